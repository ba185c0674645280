"""A group while entries of its log are applied: rows become core's group, core replays, and the group becomes rows again.

Facts of the rows that core's group lacks are kept next to it: the last entry of each row, the time since which a group is empty, and
the names of topics that records name by id alone. Share and streams groups are next to it too (foreign_groups.py); a group has
the type of its newest record. A mirrored log may be cleaned: so the order of sibling records does not matter, and no fact is kept
that only a cleaned record could have.
"""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import cast

from msgspec import structs

from group_coordinator.codecs.records import consumer_member, log_entry
from group_coordinator.codecs.records.log_entry import RecordError
from group_coordinator.codecs.records.record_types import member_of
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    ConfigRecord,
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    MemberRecord,
    OffsetRecord,
    Record,
    TargetRecord,
    TransactionMarker,
)
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.offsets.expiration import ExpirationRule, offsets_retention_ms, rule_of
from group_coordinator.core.replay import replay_record
from group_coordinator.tables.compaction.consumer_rows import (
    classic_group,
    classic_group_row,
    classic_member_row,
    consumer_group,
    consumer_group_row,
    consumer_member_row,
    topic_names_in,
)
from group_coordinator.tables.compaction.foreign_groups import (
    FOREIGN_KINDS,
    ForeignGroup,
    ForeignKind,
    ForeignMembership,
    foreign_group_row,
    foreign_member_row,
    foreign_membership,
)
from group_coordinator.tables.compaction.rows import (
    ConfigRow,
    Forecast,
    GroupKey,
    GroupRow,
    GroupRows,
    MemberRow,
    OffsetRow,
    OffsetTotals,
    Retention,
    Stamp,
    StoredLogEntry,
    committed_offset,
    offset_row,
    stamp,
)


def names_in(rows: GroupRows) -> dict[str, str]:
    committed = {row.topic_id: row.topic for row in rows.offsets.values() if row.topic_id}
    return committed | topic_names_in(rows.members.values())


def named_topics(record: Record, value: str | None) -> dict[str, str]:
    """Return the topic names in a record, by id: in a commit, or in our own log in the JSON of a member's record."""
    match record:
        case OffsetRecord(value=CommittedOffset(topic_id=str(topic_id)), producer_id=None):
            return {topic_id: record.topic}
        # Most records are commits without an id: the patterns below would be tried in vain.
        case OffsetRecord():
            return {}
        case TransactionMarker():
            return {
                offset.topic_id: topic
                for topic, _, offset in record.offsets
                if offset.topic_id is not None
            }
        case MemberRecord() | TargetRecord() | CurrentRecord() if value is not None:
            return consumer_member.topic_names(value)
        case _:
            return {}


@dataclass(slots=True)
class NewestEntries:
    """Newest entries by partition, by member id and by setting; missing if no new entry changed the row."""

    offsets: dict[tuple[str, int], StoredLogEntry] = field(default_factory=dict)
    members: dict[str, StoredLogEntry] = field(default_factory=dict)
    configs: dict[str, StoredLogEntry] = field(default_factory=dict)

    def note(self, record: Record, entry: StoredLogEntry) -> None:
        match record:
            case OffsetRecord(producer_id=None):
                self.offsets[record.topic, record.partition] = entry
            case TransactionMarker():
                self.offsets |= {(topic, number): entry for topic, number, _ in record.offsets}
            case OffsetRecord():
                # A pending offset, until its transaction's marker.
                pass
            case ConfigRecord():
                self.configs[record.name] = entry
            case GroupRecord():
                members = () if record.value is None else record.value.members
                self.members = {member.member_id: entry for member in members}
            case _:
                self.note_member(member_of(record), entry)

    def note_member(self, member_id: str | None, entry: StoredLogEntry) -> None:
        if member_id is not None:
            self.members[member_id] = entry


_log = logging.getLogger(__name__)


class ReplayedGroup:
    def __init__(self, key: GroupKey, before: GroupRows, topic_names: Mapping[str, str]) -> None:
        self._key = key
        self._before = before
        self._group = Group(key.group_id, _membership(before))
        self._group.configs = {row.name: row.value for row in before.configs.values()}
        for row in before.offsets.values():
            self._group.store_offset(row.topic, row.partition, committed_offset(row))
        # To tell later whether a record has replaced it: rows of members of an unchanged group stay as they are.
        self._loaded_classic = self._group.classic
        self._foreign = foreign_membership(before.group)
        self._empty_since_ms = None if before.group is None else before.group.empty_since
        # ChainMap writes only to the first map.
        others = cast("MutableMapping[str, str]", topic_names)
        self._topic_names = ChainMap(names_in(before), others)
        self._newest = NewestEntries()

    def apply(self, entry: StoredLogEntry) -> None:
        """Replay an entry, and note the rows that it changes. Raises RecordError if our own coordinator wrote no such record."""
        try:
            record_type = log_entry.type_of(entry.key)
            kind = FOREIGN_KINDS.get(record_type)
            if kind is None:
                self._replay(log_entry.decode(entry.key, entry.value), entry)
            else:
                self._replay_foreign(kind, record_type, entry)
        except RecordError as fault:
            # Our own coordinator never writes such a record, so the tables would be wrong from here on.
            if not entry.is_mirrored:
                raise
            _log.warning("%s: a mirrored record is skipped: %s", self._key, fault)

    def _replay(self, record: Record, entry: StoredLogEntry) -> None:
        if self._foreign is not None and isinstance(record, GroupRecord | ConsumerRecord):
            # The tombstone of a former group under this name.
            if record.value is None:
                return
            self._foreign = self._empty_since_ms = None
        # Most records are commits, and a test against the union takes ten times as long.
        is_commit = isinstance(record, OffsetRecord)
        if not is_commit and isinstance(record, ConsumerRecord) and record.value is not None:
            self._give_way_to_a_consumer_group()
        replay_record(self._group, record, entry.event_time)
        self._newest.note(record, entry)
        if names := named_topics(record, entry.value):
            self._topic_names |= names
        self._note_emptiness(record, entry)

    def _replay_foreign(self, kind: ForeignKind, record_type: int, entry: StoredLogEntry) -> None:
        present = self._foreign
        # A record of another type begins another group under the same name.
        if present is None or present.kind is not kind:
            if entry.value is None:
                return
            present = ForeignMembership(kind)
        member_id = present.values.take(record_type, entry.key, entry.value, kind.readers)
        if self._foreign is not present:
            self._foreign, self._empty_since_ms = present, None
        # Core makes a simple group of the offsets, which would be a second type for this group.
        self._group.membership = None
        self._newest.note_member(member_id, entry)
        if present.values:
            is_epoch = record_type == kind.epoch_type
            self._note_time(entry, has_members=present.has_members, is_epoch=is_epoch)
        else:
            self._foreign = self._empty_since_ms = None

    def _give_way_to_a_consumer_group(self) -> None:
        # The newest record decides. Only a log that is damaged, or read again after a downgrade, has such records over a
        # classic group.
        classic = self._group.classic
        if classic is not None:
            self._empty_since_ms = None
            if classic.protocol_type or classic is self._loaded_classic:
                self._group.membership = None

    def _note_emptiness(self, record: Record, entry: StoredLogEntry) -> None:
        # A classic group's record has the time since which it is empty; for a consumer group the record's own time
        # counts.
        membership = self._group.membership
        if isinstance(record, GroupRecord):
            metadata = record.value
            self._empty_since_ms = (
                None if metadata is None or metadata.members else metadata.state_timestamp_ms
            )
        elif isinstance(membership, ConsumerGroup):
            if isinstance(record, MemberRecord) and record.value is None:
                # It had a member until now, even if its row is removed already.
                self._empty_since_ms = None
            is_epoch = isinstance(record, GroupEpochRecord)
            self._note_time(entry, has_members=bool(membership.members), is_epoch=is_epoch)
        elif self._foreign is None and (membership is None or membership.members):
            self._empty_since_ms = None

    def _note_time(self, entry: StoredLogEntry, *, has_members: bool, is_epoch: bool) -> None:
        # The epoch's record comes with the last member's tombstones, and stays when a cleaner removes those.
        if has_members:
            self._empty_since_ms = None
        elif self._empty_since_ms is None or (is_epoch and entry.is_mirrored):
            self._empty_since_ms = entry.event_time

    def rows(self, last: StoredLogEntry, retention: Retention) -> GroupRows:
        """Return the rows with forecasts and counts; a row has the entry that changed it, or the last if none did alone."""
        foreign = None if self._foreign is None else self._foreign.shown(self._topic_names)
        configs = self._config_rows()
        offsets = self._offset_rows(foreign.rule if foreign else self._rule(), last, retention)
        # From the rows of offsets, so that the group's forecast is that of its first offset.
        expiries = [row.expires_at for row in offsets.values() if row.expires_at is not None]
        totals: OffsetTotals = {
            "offset_count": len(offsets),
            "next_expiration": min(expiries, default=None),
        }
        group_stamp = stamp(self._key, last)
        if foreign is not None:
            row = foreign_group_row(foreign, self._empty_since_ms, totals, group_stamp)
            return GroupRows(row, self._foreign_member_rows(foreign, last), offsets, configs)
        membership = self._membership_at_end(last)
        match membership:
            case None:
                return GroupRows(None, {}, offsets, configs)
            case ConsumerGroup():
                row = consumer_group_row(membership, self._empty_since_ms, totals, group_stamp)
                return GroupRows(
                    row, self._consumer_member_rows(membership, last), offsets, configs
                )
            case ClassicGroup() if membership is self._loaded_classic and self._before.group:
                # No new record of the group itself: only its offsets have changed.
                row = structs.replace(self._before.group, **totals, **group_stamp)
                return GroupRows(row, self._before.members, offsets, configs)
            case ClassicGroup():
                row = classic_group_row(membership, self._empty_since_ms, totals, group_stamp)
                # As in the column's comment: empty in a mirrored cluster.
                if last.is_mirrored and row.protocol_type is None:
                    row = structs.replace(row, protocol_type="")
                return GroupRows(row, self._classic_member_rows(membership, last), offsets, configs)

    def _membership_at_end(self, last: StoredLogEntry) -> ClassicGroup | ConsumerGroup | None:
        # In a mirrored log offsets alone make a simple group, and the last offset ends it.
        membership = self._group.membership
        if not last.is_mirrored or not (membership is None or self._is_simple(membership)):
            return membership
        return (membership or ClassicGroup()) if self._group.offsets else None

    def _is_simple(self, membership: ClassicGroup | ConsumerGroup) -> bool:
        # A simple group has no record of its own; the record of a group without any join yet has a time.
        return (
            isinstance(membership, ClassicGroup)
            and membership.protocol_type is None
            and self._empty_since_ms is None
        )

    def _foreign_member_rows(
        self, group: ForeignGroup, last: StoredLogEntry
    ) -> dict[str, MemberRow]:
        return {
            member_id: foreign_member_row(member_id, member, self._member_stamp(member_id, last))
            for member_id, member in group.members.items()
        }

    def _classic_member_rows(
        self, group: ClassicGroup, last: StoredLogEntry
    ) -> dict[str, MemberRow]:
        return {
            member_id: classic_member_row(group, member, self._member_stamp(member_id, last))
            for member_id, member in group.members.items()
        }

    def _consumer_member_rows(
        self, group: ConsumerGroup, last: StoredLogEntry
    ) -> dict[str, MemberRow]:
        return {
            member_id: consumer_member_row(
                group, member, self._topic_names, self._member_stamp(member_id, last)
            )
            for member_id, member in sorted(group.members.items())
        }

    def _member_stamp(self, member_id: str, last: StoredLogEntry) -> Stamp:
        return stamp(self._key, self._newest.members.get(member_id, last))

    def _config_rows(self) -> dict[str, ConfigRow]:
        return {
            name: ConfigRow(**stamp(self._key, self._newest.configs[name]), name=name, value=value)
            if name in self._newest.configs
            else self._before.configs[name]
            for name, value in self._group.configs.items()
        }

    def _offset_rows(
        self, rule: ExpirationRule, last: StoredLogEntry, retention: Retention
    ) -> dict[tuple[str, int], OffsetRow]:
        # A group may have a retention of its own (IncrementalAlterConfigs), which its rows have.
        own_ms = offsets_retention_ms(self._group, retention.retention_ms)
        forecast = Forecast(rule, retention._replace(retention_ms=own_ms), last.event_time)
        return {
            (topic, partition): self._offset_row((topic, partition), offset, expires_at, last)
            for topic, partitions in self._group.offsets.items()
            for (partition, offset), expires_at in zip(
                partitions.items(), forecast.expiries(topic, partitions.values()), strict=True
            )
        }

    def _rule(self) -> ExpirationRule:
        membership = self._group.membership
        return ExpirationRule("commit") if membership is None else rule_of(membership)

    def _offset_row(
        self,
        key: tuple[str, int],
        offset: CommittedOffset,
        expires_at: int | None,
        last: StoredLogEntry,
    ) -> OffsetRow:
        entry = self._newest.offsets.get(key)
        if entry is not None:
            return offset_row(*key, offset, expires_at, stamp(self._key, entry))
        row = self._before.offsets[key]
        if row.expires_at == expires_at:
            return row
        # The group's record, or a setting of it, has changed the expiry, not a commit.
        return structs.replace(row, expires_at=expires_at, **stamp(self._key, last))


def _membership(rows: GroupRows) -> ClassicGroup | ConsumerGroup | None:
    match rows.group:
        case GroupRow(group_type="classic"):
            return classic_group(rows.group)
        case GroupRow(group_type="consumer"):
            return consumer_group(rows.group, rows.members.values())
        case _:
            return None
