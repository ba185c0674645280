"""Names of topics that rows and records tell beside the ids; the records of consumer groups have the ids alone."""

from __future__ import annotations

from group_coordinator.codecs.records import consumer_member
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    CurrentRecord,
    MemberRecord,
    OffsetRecord,
    Record,
    TargetRecord,
    TransactionMarker,
)
from group_coordinator.tables.compaction.consumer_rows import topic_names_in
from group_coordinator.tables.compaction.rows import GroupRows


def names_in(rows: GroupRows) -> dict[str, str]:
    """What the rows of a group tell, by id."""
    committed = {row.topic_id: row.topic for row in rows.offsets.values() if row.topic_id}
    return committed | topic_names_in(rows.members.values())


def names_told(record: Record, value: str | None) -> dict[str, str]:
    """What a record tells, by id: a commit, or in our own log a member's.

    Args:
        record: the record.
        value: the JSON that it was read from.
    """
    match record:
        case OffsetRecord(value=CommittedOffset(topic_id=str(topic_id)), producer_id=None):
            return {topic_id: record.topic}
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
