"""Committed and pending offsets of a group; those of a topic are neighbouring partitions in buckets, some still encoded.

A commit in a group of a hundred thousand offsets decodes and encodes only the offset's bucket. Of the other buckets the number
and ages of their offsets are known.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    ItemsView,
    Iterator,
    Mapping,
    MutableMapping,
    ValuesView,
)
from dataclasses import dataclass, field
from typing import Any, Self

from msgspec import Raw, Struct

from group_coordinator.core.value import Value


class CommittedOffset(Value, frozen=True, kw_only=True):
    """An offset of a partition (OffsetCommitValue in Kafka's log)."""

    offset: int
    leader_epoch: int | None
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None
    """Set only by OffsetCommit v2-v4 with a retention time; None: the group's rule decides (KIP-211)."""
    topic_id: str | None


class OffsetAges(Value, frozen=True):
    """The times that determine the first expiry among some offsets; None if there is none of that kind."""

    oldest_commit_ms: int | None
    """The oldest commit of offsets that age from their commit, or with their group."""
    soonest_expiry_ms: int | None
    """The earliest expiry of offsets with an expiry time of their own."""

    def after(self, old: CommittedOffset | None, new: CommittedOffset) -> OffsetAges | None:
        """Return the ages after `new` has replaced `old`; None: all other offsets must be looked at."""
        # The replaced offset was the first to expire: another offset is first now.
        if old is not None and self._is_first(old):
            return None
        expiry_ms = new.expire_timestamp_ms
        if expiry_ms is None:
            oldest_ms = _sooner(self.oldest_commit_ms, new.commit_timestamp_ms)
            return OffsetAges(oldest_ms, self.soonest_expiry_ms)
        return OffsetAges(self.oldest_commit_ms, _sooner(self.soonest_expiry_ms, expiry_ms))

    def _is_first(self, offset: CommittedOffset) -> bool:
        if offset.expire_timestamp_ms is None:
            return offset.commit_timestamp_ms == self.oldest_commit_ms
        return offset.expire_timestamp_ms == self.soonest_expiry_ms


def _sooner(one_ms: int | None, other_ms: int) -> int:
    return other_ms if one_ms is None else min(one_ms, other_ms)


def ages_of(offsets: Collection[CommittedOffset]) -> OffsetAges:
    """Return the ages of offsets. It looks at every offset; there may be a hundred thousand."""
    expiries_ms = [o.expire_timestamp_ms for o in offsets if o.expire_timestamp_ms is not None]
    # Hardly any client sets an expiry of its own, so the second pass is mostly left out.
    aging = [o for o in offsets if o.expire_timestamp_ms is None] if expiries_ms else offsets
    oldest_ms = min([o.commit_timestamp_ms for o in aging], default=None)
    return OffsetAges(oldest_ms, min(expiries_ms, default=None))


def soonest_of(ages: Collection[OffsetAges]) -> OffsetAges:
    """Return the ages of all offsets together."""
    if len(ages) == 1:
        return next(iter(ages))
    oldest_ms = [each.oldest_commit_ms for each in ages if each.oldest_commit_ms is not None]
    expiries_ms = [each.soonest_expiry_ms for each in ages if each.soonest_expiry_ms is not None]
    return OffsetAges(min(oldest_ms, default=None), min(expiries_ms, default=None))


class PendingOffset(Value, frozen=True):
    """An offset that waits for the end of its transaction.

    `order` grows with every record of the group's partition. None: a later offset has been committed, and this one will not
    replace it (Kafka compares the records' positions in the log).
    """

    offset: CommittedOffset
    order: int | None
    markers_end_offset: int | None = None
    """Markers at or after this offset end the transaction, earlier markers do not; None: any marker of the producer."""
    producer_epoch: int | None = None
    """The offsets of a producer that has been fenced since are dropped; None: not compared."""


class LastMarker(Value, frozen=True):
    """The latest transaction marker of a producer that a group received, with its time."""

    marker_offset: int
    producer_epoch: int | None
    at_ms: int


_NEIGHBOURS = 64
"""The partitions of a bucket. Encoding a bucket takes some microseconds; a hundred thousand partitions are 1,563 buckets."""


class StoredTopic(Struct, frozen=True, array_like=True, gc=False):
    """The encoded offsets of a topic, with their number and ages."""

    size: int
    ages: OffsetAges
    bucket: int | None
    """The number of the only bucket; None: there are several."""
    encoded: Raw


@dataclass(slots=True)
class OffsetBucket:
    """Offsets of neighbouring partitions: decoded, encoded, or both."""

    size: int
    known_ages: OffsetAges | None
    offsets: dict[int, CommittedOffset] | None
    """The offsets by partition; None: not decoded yet."""
    encoded: Raw | None
    """The encoded offsets; None: an offset has changed."""


def _nothing_is_unread(encoded: Raw) -> dict[int, CommittedOffset]:
    message = f"offsets are not stored: {bytes(encoded)!r}"
    raise TypeError(message)


@dataclass(slots=True, eq=False)
class TopicOffsets(MutableMapping[int, CommittedOffset]):
    buckets: dict[int, OffsetBucket] = field(default_factory=dict)
    """The buckets by partition // 64. No bucket is empty."""
    read: Callable[[Raw], dict[int, CommittedOffset]] = _nothing_is_unread
    """The decoder of a bucket."""
    _known_ages: OffsetAges | None = None

    @classmethod
    def of(cls, offsets: Mapping[int, CommittedOffset]) -> Self:
        """Make a mapping of decoded offsets."""
        found = cls()
        found.update(offsets)
        return found

    @property
    def size(self) -> int:
        return sum([bucket.size for bucket in self.buckets.values()])

    @property
    def ages(self) -> OffsetAges:
        if self._known_ages is None:
            self._known_ages = soonest_of([self.ages_in(number) for number in self.buckets])
        return self._known_ages

    def ages_in(self, number: int) -> OffsetAges:
        bucket = self.buckets[number]
        if bucket.known_ages is None:
            bucket.known_ages = ages_of(self._offsets_in(number).values())
        return bucket.known_ages

    def ages_without(self, partitions: Collection[int]) -> OffsetAges:
        """Return the ages of all offsets but those of these partitions."""
        touched = {partition // _NEIGHBOURS for partition in partitions}
        return soonest_of(
            [
                ages_of([o for p, o in self._offsets_in(number).items() if p not in partitions])
                if number in touched
                else self.ages_in(number)
                for number in self.buckets
            ]
        )

    # The methods of a dictionary.

    def values(self) -> ValuesView[CommittedOffset]:
        return self._all().values()

    def items(self) -> ItemsView[int, CommittedOffset]:
        return self._all().items()

    def _all(self) -> dict[int, CommittedOffset]:
        found: dict[int, CommittedOffset] = {}
        for number in self.buckets:
            found |= self._offsets_in(number)
        return found

    def _offsets_in(self, number: int) -> dict[int, CommittedOffset]:
        bucket = self.buckets[number]
        if bucket.offsets is None:
            bucket.offsets = self.read(bucket.encoded or Raw())
        return bucket.offsets

    def __getitem__(self, partition: int) -> CommittedOffset:
        return self._offsets_in(partition // _NEIGHBOURS)[partition]

    def __contains__(self, partition: Any) -> bool:
        number = partition // _NEIGHBOURS
        bucket = self.buckets.get(number)
        return bucket is not None and partition in (bucket.offsets or self._offsets_in(number))

    def __setitem__(self, partition: int, offset: CommittedOffset) -> None:
        number = partition // _NEIGHBOURS
        bucket = self.buckets.get(number)
        if bucket is None:
            bucket = self.buckets[number] = OffsetBucket(0, None, {}, None)
        offsets = bucket.offsets
        if offsets is None:
            offsets = self._offsets_in(number)
        # The new ages often follow from the old ones; else they are computed when they are needed.
        if self._known_ages is not None:
            self._known_ages = self._known_ages.after(offsets.get(partition), offset)
        offsets[partition] = offset
        bucket.size = len(offsets)
        # The bytes and ages of the bucket are no longer valid.
        bucket.known_ages = bucket.encoded = None

    def __delitem__(self, partition: int) -> None:
        number = partition // _NEIGHBOURS
        bucket = self.buckets[number]
        offsets = self._offsets_in(number)
        del offsets[partition]
        bucket.size = len(offsets)
        bucket.known_ages = bucket.encoded = self._known_ages = None
        if not offsets:
            del self.buckets[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._all())

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return bool(self.buckets)
