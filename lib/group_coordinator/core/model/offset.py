"""Committed and pending offsets of a group."""

from __future__ import annotations

from collections.abc import Collection

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
