"""Committed offsets as rows of offsets, and back, with the forecast of their expiration."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from group_coordinator.codecs.fields import uuid_or_none
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.offsets.expiration import ExpirationRule, first_sweep_at_or_after
from group_coordinator.tables.compaction.rows import OffsetRow, Stamp
from group_coordinator.tables.timestamps import shown_ms, shown_ms_or_none


class Retention(NamedTuple):
    """Retention of offsets whose group has no setting of its own, and the interval of the sweeps."""

    retention_ms: int
    check_interval_ms: int


class Forecast(NamedTuple):
    """Forecast of expirations by a group's rule, at a given time."""

    rule: ExpirationRule
    retention: Retention
    now_ms: int

    def expiries(self, topic: str, offsets: Collection[CommittedOffset]) -> list[int | None]:
        """Return when each of these offsets of a topic expires unless it is committed again; None: it is protected."""
        due_times_ms = self.rule.due_times_ms(topic, offsets, self.retention.retention_ms)
        # The rule protects all offsets of the topic.
        if not due_times_ms:
            return [None] * len(offsets)
        return [self._expires_at(due_ms) for due_ms in due_times_ms]

    def _expires_at(self, due_ms: int) -> int:
        # An overdue offset that still exists expires at the next sweep.
        at_ms = max(due_ms, self.now_ms + 1)
        return shown_ms(first_sweep_at_or_after(at_ms, self.retention.check_interval_ms))


def committed_offset(row: OffsetRow) -> CommittedOffset:
    """Return the offset of this row."""
    return CommittedOffset(
        offset=row.committed_offset,
        leader_epoch=row.leader_epoch,
        metadata=row.metadata or "",
        commit_timestamp_ms=row.commit_timestamp,
        expire_timestamp_ms=row.expire_timestamp,
        topic_id=row.topic_id,
    )


def offset_row(
    topic: str, partition: int, offset: CommittedOffset, expires_at: int | None, stamp: Stamp
) -> OffsetRow:
    """Return the row of a committed offset, with its forecast."""
    return OffsetRow(
        **stamp,
        topic=topic,
        topic_id=uuid_or_none(offset.topic_id),
        partition=partition,
        committed_offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=shown_ms(offset.commit_timestamp_ms),
        expire_timestamp=shown_ms_or_none(offset.expire_timestamp_ms),
        expires_at=expires_at,
    )
