"""One message of __consumer_offsets: its key and its value, and the record that they are."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from group_coordinator.codecs.offsets_topic import (
    consumer_messages,
    group_metadata,
    offset_commit,
)
from group_coordinator.codecs.offsets_topic.errors import UnknownRecordTypeError
from group_coordinator.codecs.offsets_topic.reader import Reader
from group_coordinator.codecs.offsets_topic.writer import Writer
from group_coordinator.codecs.records.record_types import (
    GROUP_METADATA,
    OF_CONSUMER_GROUPS,
    OFFSET_COMMIT,
)
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    ConsumerRecord,
    GroupMetadata,
    GroupRecord,
    OffsetRecord,
    Reason,
)

MessageRecord: TypeAlias = OffsetRecord | GroupRecord | ConsumerRecord
"""The records that are messages with a key and a value of their own."""

LEGACY_OFFSET_COMMIT = 0
"""An OffsetCommit under an older number: Kafka reads it and does not write it any more."""
_HIGHEST_OFFSET_VERSIONS = {LEGACY_OFFSET_COMMIT: 0, OFFSET_COMMIT: offset_commit.HIGHEST_VERSION}


def encode_key(group_id: str, record: MessageRecord) -> bytes:
    """What the record is about: int16 record type, group; for an offset also topic, int32 partition; and so on.

    Raises:
        OffsetsTopicError: a text is too long for Kafka.
    """
    match record:
        case OffsetRecord():
            return _offset_key(OFFSET_COMMIT, group_id, record)
        case GroupRecord():
            writer = Writer("key")
            writer.int16("record type", GROUP_METADATA)
            writer.text("group", group_id)
            return writer.done()
        case _:
            return consumer_messages.encode_key(group_id, record)


def encode_legacy_key(group_id: str, record: OffsetRecord) -> bytes:
    """The key of record type 0, whose value is as that of type 1 in version 0."""
    return _offset_key(LEGACY_OFFSET_COMMIT, group_id, record)


def _offset_key(record_type: int, group_id: str, record: OffsetRecord) -> bytes:
    writer = Writer("key")
    writer.int16("record type", record_type)
    writer.text("group", group_id)
    writer.text("topic", record.topic)
    writer.int32("partition", record.partition)
    return writer.done()


def encode_value(record: MessageRecord, version: int | None = None) -> bytes | None:
    """What the record says, in the version that Kafka 4.4.0 writes or in another one; None for a tombstone.

    Raises:
        OffsetsTopicError: there is no such version, or something is too long or too large for Kafka.
    """
    if not isinstance(record, OffsetRecord | GroupRecord):
        return consumer_messages.encode_value(record, version)
    match record.value:
        case None:
            return None
        case CommittedOffset() as offset:
            writer = Writer(offset_commit.PART)
            chosen = offset_commit.version_of(offset) if version is None else version
            writer.start_value(chosen, offset_commit.HIGHEST_VERSION)
            offset_commit.write(writer, offset)
        case GroupMetadata() as group:
            writer = Writer(group_metadata.PART)
            chosen = group_metadata.WRITTEN_VERSION if version is None else version
            writer.start_value(chosen, group_metadata.HIGHEST_VERSION)
            group_metadata.write(writer, group)
        case _:
            assert_never(record.value)
    return writer.done()


def decode(key: bytes, value: bytes | None) -> tuple[str, MessageRecord]:
    """The group and the record of a message; its producer id, if any, is in the header of its batch.

    Raises:
        UnknownRecordTypeError: the message belongs to another kind of group.
        OffsetsTopicError: the bytes are not what Kafka writes.
    """
    reader = Reader("key", key)
    record_type = reader.int16("record type")
    if record_type in OF_CONSUMER_GROUPS.values():
        return consumer_messages.decode(record_type, reader, value)
    if record_type not in (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT, GROUP_METADATA):
        raise UnknownRecordTypeError(
            f"key: record type: {record_type} is of no classic or consumer group"
        )
    group_id = reader.text("group")
    if record_type == GROUP_METADATA:
        reader.end()
        return group_id, GroupRecord(_decode_group(value), Reason.MIRRORED)
    topic, partition = reader.text("topic"), reader.int32("partition")
    reader.end()
    offset = _decode_offset(value, _HIGHEST_OFFSET_VERSIONS[record_type])
    return group_id, OffsetRecord(topic, partition, offset, Reason.MIRRORED)


def _decode_offset(value: bytes | None, highest_version: int) -> CommittedOffset | None:
    if value is None:
        return None
    reader = Reader(offset_commit.PART, value)
    reader.start_value(highest_version)
    offset = offset_commit.read(reader)
    reader.end()
    return offset


def _decode_group(value: bytes | None) -> GroupMetadata | None:
    if value is None:
        return None
    reader = Reader(group_metadata.PART, value)
    reader.start_value(group_metadata.HIGHEST_VERSION)
    group = group_metadata.read(reader)
    reader.end()
    return group
