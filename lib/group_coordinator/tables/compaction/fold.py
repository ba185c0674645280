"""What becomes of a group's rows when a stretch of its log is applied: the replay of core, in the tables' terms.

Plain Python, the same on the driver and in Spark's workers. Rows are dictionaries by column name; instants are in
milliseconds here and timestamps in the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import (
    ConfigRecord,
    ConsumerRecord,
    GroupRecord,
    OffsetRecord,
    TransactionMarker,
)
from group_coordinator.core.offsets.expiration import first_sweep_at_or_after
from group_coordinator.tables.compaction.consumer_fold import ConsumerDraft
from group_coordinator.tables.compaction.rows import (
    Row,
    due_ms,
    group_row,
    member_rows,
    offset_row,
    simple_group_row,
)
from group_coordinator.tables.instants import shown_ms

GROUPS, MEMBERS, OFFSETS = "groups", "members", "offsets"

_CHANGED_BY = ("updated_at", "batch_id")
"""Columns that say which record changed the row; a row that only differs in them has not changed."""

Key: TypeAlias = tuple[str, str | int | None, str | None]


class LogEntry(NamedTuple):
    """A row of coordinator_log, as far as it matters here; entries sort as they were written."""

    batch_id: int
    seq: int
    key: str
    value: str | None
    event_time: int


class Retention(NamedTuple):
    """How long offsets are kept, and the grid on which they go."""

    retention_ms: int
    check_interval_ms: int


class Change(NamedTuple):
    """What to do about one row: put it into its table, or delete the one with its key."""

    table: str
    delete: bool
    row: Row


@dataclass(slots=True)
class GroupRows:
    """All that the tables hold of one group; `group` is None while there is none."""

    group: Row | None = None
    members: dict[str, Row] = field(default_factory=dict)
    offsets: dict[tuple[str, int], Row] = field(default_factory=dict)

    def add(self, table: str, row: Row) -> None:
        """Take a row of one of the tables."""
        if table == GROUPS:
            self.group = row
        elif table == MEMBERS:
            self.members[row["member_id"]] = row
        else:
            self.offsets[row["topic"], row["partition"]] = row

    def by_key(self) -> dict[tuple[str, object], Row]:
        """All rows by table and key."""
        rows: dict[tuple[str, object], Row] = (
            {} if self.group is None else {(GROUPS, None): self.group}
        )
        rows |= {(MEMBERS, member_id): row for member_id, row in self.members.items()}
        rows |= {(OFFSETS, partition): row for partition, row in self.offsets.items()}
        return rows


def fold(
    identity: Mapping[str, str], before: GroupRows, log: Iterable[LogEntry], retention: Retention
) -> Iterator[Change]:
    """The changes that bring a group's rows up to date: none if they are, so that it may be done again.

    `identity` are the columns cluster_id and group_id.
    """
    draft = _Draft(before)
    for entry in sorted(log):
        draft.apply(entry)
    left = before.by_key()
    for (table, key), row in draft.finish(retention).by_key().items():
        if _content(left.pop((table, key), {})) != _content(row := {**identity, **row}):
            yield Change(table, delete=False, row=row)
    for (table, _), row in left.items():
        yield Change(table, delete=True, row=row)


def _content(row: Row) -> Row:
    """Columns that have no value are as good as not there: some are of one kind of group alone."""
    return {
        name: value for name, value in row.items() if name not in _CHANGED_BY and value is not None
    }


class _Draft:
    """The rows of one group while entries are applied."""

    def __init__(self, before: GroupRows) -> None:
        self._group = before.group
        self._members = before.members
        self._offsets = dict(before.offsets)
        self._consumers = ConsumerDraft(before.group, before.members, before.offsets)
        self._changed_by: Row = {}

    def apply(self, entry: LogEntry) -> None:
        """As core.replay: a group's tombstone leaves its offsets alone, the first offset makes a simple group."""
        self._changed_by = {"updated_at": entry.event_time, "batch_id": entry.batch_id}
        record = log_entry.decode(entry.key, entry.value)
        match record:
            case OffsetRecord():
                self._apply_offset(record)
            case TransactionMarker():
                for topic, partition, offset in record.offsets:
                    self._apply_offset(OffsetRecord(topic, partition, offset, record.reason))
            case GroupRecord():
                self._apply_group(record)
            case ConfigRecord():
                pass  # settings are in the log alone
            case _:
                self._apply_to_consumers(record, entry)

    def finish(self, retention: Retention) -> GroupRows:
        """With what follows from the rest: forecasts and counts."""
        consumers = self._consumers.rows(self._changed_by)
        if consumers is not None:
            self._group, self._members = consumers
        offsets = {
            partition: self._with_forecast(row, retention)
            for partition, row in self._offsets.items()
        }
        expiries = [row["expires_at"] for row in offsets.values() if row["expires_at"] is not None]
        group = self._group and {
            **self._group,
            "offset_count": len(offsets),
            "next_expiration": min(expiries, default=None),
            **self._changed_by,
        }
        return GroupRows(group, self._members, offsets)

    def _apply_offset(self, record: OffsetRecord) -> None:
        partition = (record.topic, record.partition)
        if record.value is None:
            self._offsets.pop(partition, None)
            return
        if self._group is None and not self._consumers.exists:
            self._group = simple_group_row()
        if record.producer_id is not None:
            return  # it waits for its transaction's marker, which brings it once more
        self._offsets[partition] = offset_row(record, record.value) | self._changed_by

    def _apply_to_consumers(self, record: ConsumerRecord, entry: LogEntry) -> None:
        """A group that only stored offsets becomes a consumer group; with that one's tombstone all members are gone."""
        existed = self._consumers.exists
        self._consumers.apply(record, entry.value, self._changed_by)
        if existed or self._consumers.exists:
            self._group, self._members = None, {}  # the draft has them

    def _apply_group(self, record: GroupRecord) -> None:
        self._consumers = ConsumerDraft(None, {}, self._offsets)
        self._group, self._members = None, {}
        if record.value is not None:
            self._group = group_row(record.value)
            self._members = {
                row["member_id"]: row | self._changed_by for row in member_rows(record.value)
            }

    def _with_forecast(self, row: Row, retention: Retention) -> Row:
        forecast = {"expires_at": self._expires_at(row, retention)}
        if "expires_at" not in row:
            return row | forecast
        # The group's record has moved the expiry, not a commit.
        moved = row["expires_at"] != forecast["expires_at"]
        return row | forecast | self._changed_by if moved else row

    def _expires_at(self, row: Row, retention: Retention) -> int | None:
        due = due_ms(row, self._group, retention.retention_ms)
        if due is None:
            return None
        # What was overdue and is still there goes with the next sweep.
        after_now_ms = self._changed_by["updated_at"] + 1
        return shown_ms(
            first_sweep_at_or_after(max(due, after_now_ms), retention.check_interval_ms)
        )
