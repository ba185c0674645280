"""The committed offsets of a topic in a group: neighbouring partitions in buckets, some still encoded.

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

from group_coordinator.core.model.offset import CommittedOffset, OffsetAges, ages_of, soonest_of

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
    """A mapping of offsets by partition."""

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
        """The ages of all offsets."""
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
        # The new ages often follow from the old ones; otherwise they are computed when they are
        # needed.
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
