"""Offsets as a group keeps them."""

from __future__ import annotations

from group_coordinator.core.value import Value


class CommittedOffset(Value, frozen=True):
    """What a group stored for one partition (OffsetCommitValue in Kafka's log)."""

    offset: int
    leader_epoch: int | None
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None
    """Set only by OffsetCommit v2-v4 with a retention time; None: the group's rule decides (KIP-211)."""
    topic_id: str | None


class PendingOffset(Value, frozen=True):
    """An offset that waits for the end of its transaction.

    `order` grows with every record of the group's partition; None: a later offset has been committed meanwhile, and
    this one will not replace it (Kafka compares the records' places in the log).
    """

    offset: CommittedOffset
    order: int | None
    markers_end_offset: int | None = None
    """Markers at this offset or behind it end the transaction, those before it do not; None: any marker of the producer."""
    producer_epoch: int | None = None
    """Of a producer that has been fenced since, nothing counts; None: not asked for."""


class LastMarker(Value, frozen=True):
    """The latest marker of a producer that a group was told of, and when."""

    marker_offset: int
    producer_epoch: int | None
    at_ms: int
