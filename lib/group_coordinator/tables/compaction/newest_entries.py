"""Which entry of the log was the last one about a row: its time and its batch are the row's."""

from __future__ import annotations

from dataclasses import dataclass, field

from group_coordinator.codecs.records.record_types import member_of
from group_coordinator.core.model.records import (
    ConfigRecord,
    GroupRecord,
    OffsetRecord,
    Record,
    TransactionMarker,
)
from group_coordinator.tables.compaction.rows import LogEntry


@dataclass(slots=True)
class NewestEntries:
    """By partition, by member id and by setting; nothing where no entry of this stretch was about the row."""

    offsets: dict[tuple[str, int], LogEntry] = field(default_factory=dict)
    members: dict[str, LogEntry] = field(default_factory=dict)
    configs: dict[str, LogEntry] = field(default_factory=dict)

    def note(self, record: Record, entry: LogEntry) -> None:
        """The entry of this record is newer than those before."""
        match record:
            case OffsetRecord(producer_id=None):
                self.offsets[record.topic, record.partition] = entry
            case TransactionMarker():
                self.offsets |= {(topic, number): entry for topic, number, _ in record.offsets}
            case OffsetRecord():
                pass  # it waits for its transaction's marker
            case ConfigRecord():
                self.configs[record.name] = entry
            case GroupRecord():
                members = () if record.value is None else record.value.members
                self.members = {member.member_id: entry for member in members}
            case _:
                self.note_member(member_of(record), entry)

    def note_member(self, member_id: str | None, entry: LogEntry) -> None:
        """As note, of a record about a member; None: it is about none."""
        if member_id is not None:
            self.members[member_id] = entry
