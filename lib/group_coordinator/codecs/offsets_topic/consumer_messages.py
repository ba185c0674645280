"""The messages of consumer groups (KIP-848): keys and values of record types 3 to 8 and 16."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, assert_never

from group_coordinator.codecs.offsets_topic import consumer_group
from group_coordinator.codecs.offsets_topic.reader import Reader
from group_coordinator.codecs.offsets_topic.writer import Writer
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import OF_CONSUMER_GROUPS, OF_MEMBERS, member_of
from group_coordinator.core.model.consumer_member import (
    CurrentAssignment,
    GroupEpoch,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    Reason,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)

Value = TypeVar("Value")


def encode_key(group_id: str, record: ConsumerRecord) -> bytes:
    """int16 record type, group; for a member's record also the member, for a pattern's the pattern."""
    writer = Writer("key")
    writer.int16("record type", OF_CONSUMER_GROUPS[type(record)])
    writer.text("groupId", group_id)
    member_id = member_of(record)
    if member_id is not None:
        writer.text("memberId", member_id)
    elif isinstance(record, RegexRecord):
        writer.text("regularExpression", record.regex)
    return writer.done()


def encode_value(record: ConsumerRecord, version: int | None) -> bytes | None:
    """What the record says; None for a tombstone."""
    if isinstance(record, PartitionMetadataTombstone) or record.value is None:
        return None
    writer = Writer(_part(OF_CONSUMER_GROUPS[type(record)]))
    writer.start_value(version or 0, consumer_group.HIGHEST_VERSION, consumer_group.FLEXIBLE_SINCE)
    match record.value:
        case GroupEpoch() as epoch:
            consumer_group.write_group_epoch(writer, epoch)
        case SubscriptionMetadata() as member:
            consumer_group.write_member(writer, member)
        case TargetEpoch() as target:
            consumer_group.write_target_epoch(writer, target)
        case dict() as assignment:
            consumer_group.write_target(writer, assignment)
        case CurrentAssignment() as current:
            consumer_group.write_current(writer, current)
        case ResolvedRegex() as regex:
            consumer_group.write_regex(writer, regex)
        case _:
            assert_never(record.value)
    return writer.done()


def decode(record_type: int, key: Reader, value: bytes | None) -> tuple[str, ConsumerRecord]:
    """The group and the record of a message, from what is behind the key's record type and from the value."""
    group_id, about = key.text("groupId"), ""
    if record_type in OF_MEMBERS:
        about = key.text("memberId")
    elif record_type == record_types.REGULAR_EXPRESSION:
        about = key.text("regularExpression")
    key.end()
    return group_id, _record(record_type, about, value)


def _record(record_type: int, about: str, value: bytes | None) -> ConsumerRecord:  # noqa: PLR0911 - one line a record
    def read(fields: Callable[[Reader], Value]) -> Value | None:
        return None if value is None else _read(record_type, value, fields)

    match record_type:
        case record_types.GROUP_EPOCH:
            return GroupEpochRecord(read(consumer_group.read_group_epoch), Reason.MIRRORED)
        case record_types.MEMBER_METADATA:
            return MemberRecord(about, read(consumer_group.read_member), Reason.MIRRORED)
        case record_types.TARGET_EPOCH:
            return TargetEpochRecord(read(consumer_group.read_target_epoch), Reason.MIRRORED)
        case record_types.TARGET_ASSIGNMENT:
            return TargetRecord(about, read(consumer_group.read_target), Reason.MIRRORED)
        case record_types.CURRENT_ASSIGNMENT:
            return CurrentRecord(about, read(consumer_group.read_current), Reason.MIRRORED)
        case record_types.REGULAR_EXPRESSION:
            return RegexRecord(about, read(consumer_group.read_regex), Reason.MIRRORED)
        case _:
            # What brokers before 4.1 kept under type 4 counts no more.
            return PartitionMetadataTombstone(Reason.MIRRORED)


def _read(record_type: int, value: bytes, fields: Callable[[Reader], Value]) -> Value:
    reader = Reader(_part(record_type), value)
    reader.start_value(consumer_group.HIGHEST_VERSION, consumer_group.FLEXIBLE_SINCE)
    found = fields(reader)
    reader.end()
    return found


def _part(record_type: int) -> str:
    return f"value of record type {record_type}"
