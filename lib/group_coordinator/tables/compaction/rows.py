"""Rows of the state tables: a field per column, the same as Arrow data, and committed offsets with the forecast of their expiration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypedDict, assert_never

import pyarrow as pa
from msgspec import Struct, to_builtins

from group_coordinator.codecs.fields import uuid_or_none
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.offsets.expiration import ExpirationRule, first_sweep_at_or_after
from group_coordinator.tables.state_tables import GROUP_CONFIGS, GROUPS, MEMBERS, OFFSETS
from group_coordinator.tables.timestamps import shown_ms, shown_ms_or_none


class GroupKey(NamedTuple):
    """The columns that identify the group of a row."""

    cluster_id: str
    group_id: str


# gc=False: entries have no cycles, and Python's garbage collection would visit all entries of a batch repeatedly.
class StoredLogEntry(Struct, frozen=True, order=True, gc=False):
    """The relevant columns of a row of coordinator_log; entries sort in the order of writing."""

    batch_id: int
    seq: int
    key: str
    value: str | None
    event_time: int
    reason: str | None = None
    inferred: bool | None = None
    """None: not mirrored."""

    @property
    def is_mirrored(self) -> bool:
        return self.reason in {Reason.MIRRORED, Reason.OBSERVED} or bool(self.inferred)


ENTRY_COLUMNS = StoredLogEntry.__struct_fields__


class Stamp(TypedDict):
    """The columns of all rows: the group, and the log entry that changed the row."""

    cluster_id: str
    group_id: str
    updated_at: int
    batch_id: int


def stamp(group: GroupKey, entry: StoredLogEntry) -> Stamp:
    return {
        "cluster_id": group.cluster_id,
        "group_id": group.group_id,
        "updated_at": entry.event_time,
        "batch_id": entry.batch_id,
    }


class OffsetTotals(TypedDict):
    """Columns of a group's row about its offsets."""

    offset_count: int
    next_expiration: int | None


# `updated_at` and `batch_id` are those of the log entry that changed the row.
class Row(Struct, frozen=True, kw_only=True, gc=False):
    cluster_id: str
    group_id: str
    updated_at: int
    batch_id: int

    @property
    def group_key(self) -> GroupKey:
        return GroupKey(self.cluster_id, self.group_id)


class ResolvedPattern(Struct, frozen=True, gc=False):
    regex: str
    topics: list[str]
    version: int
    resolved_at_ms: int


class GroupRow(Row, frozen=True, kw_only=True, gc=False):
    group_type: str
    state: str
    protocol_type: str | None
    protocol: str | None
    generation_or_epoch: int
    leader: str | None
    member_count: int
    offset_count: int
    empty_since: int | None
    next_expiration: int | None
    expiration_base: str
    protected_topics: list[str]
    # Columns that are null for classic groups.
    assignment_epoch: int | None = None
    assignment_timestamp: int | None = None
    metadata_hash: int | None = None
    resolved_regexes: list[ResolvedPattern] | None = None
    # JSON of newest_values.py: values that later entries depend on and no other column has.
    records: str | None = None


class AssignedPartition(Struct, frozen=True, gc=False):
    topic: str
    partition: int


class TargetPartition(Struct, frozen=True, gc=False):
    topic: str
    topic_id: str
    partition: int


class OwnedPartition(Struct, frozen=True, gc=False):
    topic: str
    topic_id: str
    partition: int
    assignment_epoch: int


def target_partitions(
    topics: Mapping[str, Iterable[int]], names: Mapping[str, str]
) -> list[TargetPartition]:
    """Return the partitions of topics by id; the id takes the place of an unknown name."""
    return [
        TargetPartition(names.get(topic_id, topic_id), topic_id, partition)
        for topic_id, partitions in sorted(topics.items())
        for partition in partitions
    ]


class MemberRow(Row, frozen=True, kw_only=True, gc=False):
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    session_timeout_ms: int | None
    rebalance_timeout_ms: int | None
    subscribed_topics: list[str] | None
    assigned_partitions: list[AssignedPartition] | None
    member_epoch: int | None = None
    # Columns that are null for members of classic groups.
    member_type: str | None = None
    rack_id: str | None = None
    subscribed_regex: str | None = None
    server_assignor: str | None = None
    previous_member_epoch: int | None = None
    member_state: str | None = None
    current_assignment: list[OwnedPartition] | None = None
    pending_revocation: list[OwnedPartition] | None = None
    target_assignment: list[TargetPartition] | None = None
    # Null for members of other groups.
    has_user_data: bool | None = None


class OffsetRow(Row, frozen=True, kw_only=True, gc=False):
    topic: str
    topic_id: str | None
    partition: int
    committed_offset: int
    leader_epoch: int | None
    metadata: str | None
    commit_timestamp: int
    expire_timestamp: int | None
    expires_at: int | None


class ConfigRow(Row, frozen=True, kw_only=True, gc=False):
    name: str
    value: str


TableRow: TypeAlias = GroupRow | MemberRow | OffsetRow | ConfigRow

ROW_TYPES: Mapping[str, type[TableRow]] = {
    GROUPS.name: GroupRow,
    MEMBERS.name: MemberRow,
    OFFSETS.name: OffsetRow,
    GROUP_CONFIGS.name: ConfigRow,
}
"""Row types by the name of the table."""


@dataclass(slots=True)
class GroupRows:
    """All rows of a group in the state tables; `group` is None while there is none."""

    group: GroupRow | None = None
    members: dict[str, MemberRow] = field(default_factory=dict)
    offsets: dict[tuple[str, int], OffsetRow] = field(default_factory=dict)
    configs: dict[str, ConfigRow] = field(default_factory=dict)

    def add(self, row: TableRow) -> None:
        match row:
            case GroupRow():
                self.group = row
            case MemberRow():
                self.members[row.member_id] = row
            case OffsetRow():
                self.offsets[row.topic, row.partition] = row
            case ConfigRow():
                self.configs[row.name] = row
            case _:
                assert_never(row)

    def by_table(self) -> dict[str, Mapping[Any, TableRow]]:
        return {
            GROUPS.name: {} if self.group is None else {None: self.group},
            MEMBERS.name: self.members,
            OFFSETS.name: self.offsets,
            GROUP_CONFIGS.name: self.configs,
        }


def to_arrow(rows: Sequence[Row], wanted: pa.Schema) -> pa.Table:
    # Arrow converts integers to microseconds only by way of milliseconds with a time zone.
    milliseconds, between = (_with_instants(wanted, kind) for kind in (pa.int64(), _MILLISECONDS))
    # By columns, as a dictionary for each row takes longer.
    columns = [
        pa.array(to_builtins([*map(attrgetter(field.name), rows)]), field.type)
        for field in milliseconds
    ]
    return pa.table(columns, milliseconds).cast(between).cast(wanted)


def from_arrow(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = in_milliseconds(table).to_pylist()
    return rows


def in_milliseconds(table: pa.Table) -> pa.Table:
    """Return the table with integers for its times."""
    between = _with_instants(table.schema, _MILLISECONDS)
    milliseconds = _with_instants(between, pa.int64())
    return table.cast(between, safe=False).cast(milliseconds)


_MILLISECONDS = pa.timestamp("ms", "UTC")


def _with_instants(schema: pa.Schema, kind: pa.DataType) -> pa.Schema:
    is_instant = pa.types.is_timestamp
    return pa.schema(
        [field.with_type(kind) if is_instant(field.type) else field for field in schema]
    )


class Retention(NamedTuple):
    """Retention of offsets whose group has no setting of its own, and the interval of the sweeps."""

    retention_ms: int
    check_interval_ms: int


class Forecast(NamedTuple):
    rule: ExpirationRule
    retention: Retention
    now_ms: int

    def expiries(self, topic: str, offsets: Collection[CommittedOffset]) -> list[int | None]:
        """Return the time when each of these offsets of a topic expires without another commit; None: it is protected."""
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
