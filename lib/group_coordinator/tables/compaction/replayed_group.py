"""A group while entries of its log are applied: rows become core's group, core replays, and the group becomes rows again.

What rows have and core's group has not is kept beside it, by key: which entry changed what, since when a consumer group
is empty, and the names of the topics that its records name by id alone.
"""

from __future__ import annotations

from msgspec import structs

from group_coordinator.codecs.records import consumer_member, log_entry
from group_coordinator.codecs.records.record_types import member_of
from group_coordinator.core.group_configs import offsets_retention_ms
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    ConfigRecord,
    ConsumerRecord,
    GroupRecord,
    OffsetRecord,
    Record,
    TransactionMarker,
)
from group_coordinator.core.offsets.expiration import ExpirationRule, rule_of
from group_coordinator.core.replay import replay_record
from group_coordinator.tables.compaction.classic_rows import (
    CLASSIC,
    classic_group,
    classic_group_row,
    classic_member_row,
)
from group_coordinator.tables.compaction.consumer_rows import (
    consumer_group,
    consumer_group_row,
    consumer_member_row,
    topic_names_in,
)
from group_coordinator.tables.compaction.offset_rows import (
    Forecast,
    Retention,
    committed_offset,
    offset_row,
)
from group_coordinator.tables.compaction.rows import (
    ConfigRow,
    GroupKey,
    GroupRows,
    LogEntry,
    MemberRow,
    OffsetRow,
    OffsetTotals,
    stamp,
)


class ReplayedGroup:
    """The group that left these rows, and what the entries since then make of it."""

    def __init__(self, key: GroupKey, before: GroupRows) -> None:
        self._key = key
        self._before = before
        self._group = Group(key.group_id, _membership(before))
        self._group.configs = {row.name: row.value for row in before.configs.values()}
        for row in before.offsets.values():
            self._group.store_offset(row.topic, row.partition, committed_offset(row))
        self._loaded_classic = self._group.classic
        self._empty_since_ms = None if before.group is None else before.group.empty_since
        self._topic_names = _topic_names(before)
        self._offset_entries: dict[tuple[str, int], LogEntry] = {}
        self._member_entries: dict[str, LogEntry] = {}
        self._config_entries: dict[str, LogEntry] = {}

    def apply(self, entry: LogEntry) -> None:
        """Replay one entry, and note which rows it is about."""
        record = log_entry.decode(entry.key, entry.value)
        if isinstance(record, ConsumerRecord) and record.value is not None:
            self._forget_later_classic_group()
        replay_record(self._group, record, entry.event_time)
        self._note_rows(record, entry)
        self._note_emptiness(record, entry)

    def _forget_later_classic_group(self) -> None:
        """A log that is read once more finds what its end made of the group: here a downgrade."""
        if self._loaded_classic is not None and self._group.membership is self._loaded_classic:
            self._group.membership = self._empty_since_ms = None

    def _note_emptiness(self, record: Record, entry: LogEntry) -> None:
        """A classic group's record says since when it is empty; for a consumer group the record's own time counts."""
        membership = self._group.membership
        if isinstance(record, GroupRecord):
            metadata = record.value
            self._empty_since_ms = (
                None if metadata is None or metadata.members else metadata.state_timestamp_ms
            )
        elif membership is None or membership.members:
            self._empty_since_ms = None
        elif self._empty_since_ms is None and isinstance(membership, ConsumerGroup):
            self._empty_since_ms = entry.event_time

    def _note_rows(self, record: Record, entry: LogEntry) -> None:
        match record:
            case OffsetRecord(producer_id=None):
                self._note_offset(record.topic, record.partition, record.value, entry)
            case TransactionMarker():
                for topic, partition, offset in record.offsets:
                    self._note_offset(topic, partition, offset, entry)
            case OffsetRecord():
                pass  # it waits for its transaction's marker
            case ConfigRecord():
                self._config_entries[record.name] = entry
            case GroupRecord():
                members = () if record.value is None else record.value.members
                self._member_entries = {member.member_id: entry for member in members}
            case _:
                self._note_member(record, entry)

    def _note_offset(
        self, topic: str, partition: int, offset: CommittedOffset | None, entry: LogEntry
    ) -> None:
        self._offset_entries[topic, partition] = entry
        if offset is not None and offset.topic_id is not None:
            self._topic_names[offset.topic_id] = topic

    def _note_member(self, record: ConsumerRecord, entry: LogEntry) -> None:
        if entry.value is not None:
            self._topic_names |= consumer_member.topic_names(entry.value)
        member_id = member_of(record)
        if member_id is not None:
            self._member_entries[member_id] = entry

    def rows(self, last: LogEntry, retention: Retention) -> GroupRows:
        """What the group leaves, with what follows from the rest: forecasts and counts.

        A row has the entry that changed it, or the last one where none was about the row alone.
        """
        configs, offsets = self._config_rows(), self._offset_rows(last, retention)
        expiries = [row.expires_at for row in offsets.values() if row.expires_at is not None]
        totals: OffsetTotals = {
            "offset_count": len(offsets),
            "next_expiration": min(expiries, default=None),
        }
        group_stamp = stamp(self._key, last)
        membership = self._group.membership
        match membership:
            case None:
                return GroupRows(None, {}, offsets, configs)
            case ConsumerGroup():
                row = consumer_group_row(membership, self._empty_since_ms, totals, group_stamp)
                return GroupRows(
                    row, self._consumer_member_rows(membership, last), offsets, configs
                )
            case ClassicGroup() if membership is self._loaded_classic and self._before.group:
                row = structs.replace(self._before.group, **totals, **group_stamp)
                return GroupRows(row, self._before.members, offsets, configs)
            case ClassicGroup():
                row = classic_group_row(membership, self._empty_since_ms, totals, group_stamp)
                return GroupRows(row, self._classic_member_rows(membership), offsets, configs)

    def _classic_member_rows(self, membership: ClassicGroup) -> dict[str, MemberRow]:
        return {
            member_id: classic_member_row(
                membership, member, stamp(self._key, self._member_entries[member_id])
            )
            for member_id, member in membership.members.items()
        }

    def _consumer_member_rows(
        self, membership: ConsumerGroup, last: LogEntry
    ) -> dict[str, MemberRow]:
        return {
            member_id: consumer_member_row(
                membership,
                member,
                self._topic_names,
                stamp(self._key, self._member_entries.get(member_id, last)),
            )
            for member_id, member in sorted(membership.members.items())
        }

    def _config_rows(self) -> dict[str, ConfigRow]:
        return {
            name: ConfigRow(**stamp(self._key, self._config_entries[name]), name=name, value=value)
            if name in self._config_entries
            else self._before.configs[name]
            for name, value in self._group.configs.items()
        }

    def _offset_rows(
        self, last: LogEntry, retention: Retention
    ) -> dict[tuple[str, int], OffsetRow]:
        membership = self._group.membership
        rule = ExpirationRule("commit") if membership is None else rule_of(membership)
        own_ms = offsets_retention_ms(self._group, retention.retention_ms)
        forecast = Forecast(rule, retention._replace(retention_ms=own_ms), last.event_time)
        return {
            (topic, partition): self._offset_row((topic, partition), offset, expires_at, last)
            for topic, partitions in self._group.offsets.items()
            for (partition, offset), expires_at in zip(
                partitions.items(), forecast.expiries(topic, partitions.values()), strict=True
            )
        }

    def _offset_row(
        self,
        key: tuple[str, int],
        offset: CommittedOffset,
        expires_at: int | None,
        last: LogEntry,
    ) -> OffsetRow:
        entry = self._offset_entries.get(key)
        if entry is not None:
            return offset_row(*key, offset, expires_at, stamp(self._key, entry))
        row = self._before.offsets[key]
        if row.expires_at == expires_at:
            return row
        # The group's record, or one of its settings, has moved the expiry, not a commit.
        return structs.replace(row, expires_at=expires_at, **stamp(self._key, last))


def _membership(rows: GroupRows) -> ClassicGroup | ConsumerGroup | None:
    if rows.group is None:
        return None
    if rows.group.group_type == CLASSIC:
        return classic_group(rows.group)
    return consumer_group(rows.group, rows.members.values())


def _topic_names(rows: GroupRows) -> dict[str, str]:
    """Names of topics by id: the records of consumer groups have the ids alone."""
    committed = {row.topic_id: row.topic for row in rows.offsets.values() if row.topic_id}
    return committed | topic_names_in(rows.members.values())
