"""Messages of __consumer_offsets of any type and version: bytes, rows of the log in the JSON of Kafka's formatter, core's records.

The decoder reads all bytes that Kafka 4.4.0 reads (`binary/decoder_source.py`), but a `classicMemberMetadata` with its default is
left out even if it has an unknown tagged field. The encoder is for tests and tools that need such a topic: a mirror only reads.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import Any, TypeAlias, cast

from msgspec import json, to_builtins

from group_coordinator.binary.layouts import OFFSETS_TOPIC
from group_coordinator.binary.notation import Message
from group_coordinator.binary.programs import READING_FAILURES, WRITING_FAILURES, Decoder, Encoder
from group_coordinator.codecs.offsets_topic.schemas import RECORDS
from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.record_types import (
    LEGACY_OFFSET_COMMIT,
    RECORD_TYPES,
    Key,
    LogEntry,
    RecordValue,
)
from group_coordinator.core.model.records import ConsumerRecord, GroupRecord, OffsetRecord

_PREFIX = Struct(">h")
"""The record type at the start of a key, and the version at the start of a value."""


class OffsetsTopicError(ValueError):
    """Bytes that are no record of a group, or a record that does not fit into bytes."""


class UnknownRecordTypeError(OffsetsTopicError):
    """A key of a type that Kafka 4.4.0 does not have."""


class UnknownVersionError(OffsetsTopicError):
    """A value of a version that Kafka 4.4.0 does not have; its key could be read."""


class DamagedMessageError(OffsetsTopicError):
    """Invalid bytes of a known type and version."""


def decode_entry(key: bytes | None, value: bytes | None) -> tuple[str, LogEntry]:
    """Decode a message; return its group and its row of the log. A value of None is a tombstone.

    Raises UnknownRecordTypeError: the key is of no type that Kafka 4.4.0 has.
    Raises UnknownVersionError: the value is of no version of its type that Kafka 4.4.0 has.
    Raises DamagedMessageError: there is no key, or a field of the key or of the value cannot be read.
    """
    if key is None:
        raise DamagedMessageError("key: is null")
    record_type = _prefix("key: record type", key)
    about = _decoded(_decoder(record_type, None), key)
    # The group is the first field of every key, under different names.
    group_id: str = next(iter(about.values()))
    topic, partition, member_id = about.get("topic"), about.get("partition"), about.get("memberId")
    entry_key = Key(record_type, about)
    if value is None:
        return group_id, LogEntry(entry_key, None, topic, partition, member_id)
    version = _prefix(f"{RECORDS[record_type].value.name}: version", value)
    says = _decoded(_decoder(record_type, version), value)
    entry_value = RecordValue(version=version, data=says)
    offset = says.get("offset")
    return group_id, LogEntry(
        key=entry_key,
        value=entry_value,
        topic=topic,
        partition=partition,
        member_id=member_id,
        offset=offset,
    )


def encode_entry(entry: LogEntry) -> tuple[bytes, bytes | None]:
    """Encode key and value of a message, the value in the entry's version; None for a tombstone.

    Raises UnknownRecordTypeError: Kafka 4.4.0 has no such type.
    Raises UnknownVersionError: the type has no such version.
    Raises OffsetsTopicError: a field is missing, too long or too large for Kafka.
    """
    record_type = entry.key.type
    key = _encoded(_encoder(record_type, None), record_type, entry.key.data)
    if entry.value is None:
        return key, None
    version = entry.value.version
    return key, _encoded(_encoder(record_type, version), version, entry.value.data)


def _prefix(field: str, data: bytes) -> int:
    if len(data) < _PREFIX.size:
        raise DamagedMessageError(f"{field}: {_PREFIX.size} bytes wanted, {len(data)} left")
    found: int = _PREFIX.unpack_from(data)[0]
    return found


def _decoded(decoder: Decoder, data: bytes) -> dict[str, Any]:
    try:
        return decoder.run(data, _PREFIX.size, len(data))[0]
    except READING_FAILURES as failure:
        raise DamagedMessageError(f"{decoder.name}: {decoder.fault(failure)}") from failure


def _encoded(encoder: Encoder, prefix: int, data: object) -> bytes:
    try:
        return bytes(encoder.run(bytearray(_PREFIX.pack(prefix)), to_builtins(data)))
    except WRITING_FAILURES as failure:
        raise OffsetsTopicError(f"{encoder.name}: {encoder.fault(failure)}") from failure


# Compiled at first use: a mirror of classic groups needs few of the layouts.
@cache
def _decoder(record_type: int, version: int | None) -> Decoder:
    return Decoder(*_message(record_type, version), OFFSETS_TOPIC)


@cache
def _encoder(record_type: int, version: int | None) -> Encoder:
    return Encoder(*_message(record_type, version), OFFSETS_TOPIC)


def _message(record_type: int, version: int | None) -> tuple[Message, int]:
    record = RECORDS.get(record_type)
    if record is None:
        raise UnknownRecordTypeError(f"key: record type: {record_type} is unknown")
    if version is None:
        return record.key, 0
    name, versions = record.value.name, record.value.versions
    if version not in versions:
        raise UnknownVersionError(f"{name}: version: {version} is not in 0-{versions[-1]}")
    return record.value, version


MessageRecord: TypeAlias = OffsetRecord | GroupRecord | ConsumerRecord
"""The records that are messages with a key and a value of their own."""


def encode(group_id: str, record: MessageRecord) -> tuple[bytes, bytes | None]:
    """Encode key and value of a record's message as Kafka 4.4.0 writes it; a tombstone has no value. Raises OffsetsTopicError."""
    return encode_entry(log_entry.encode(group_id, record))


def decode(key: bytes, value: bytes | None) -> tuple[str, MessageRecord]:
    """Decode the group and the record of a message. A producer id would be in the header of its batch.

    Raises UnknownRecordTypeError: the message belongs to another type of group.
    Raises OffsetsTopicError: Kafka cannot read the bytes either.
    """
    group_id, entry = decode_entry(key, value)
    record_type = entry.key.type
    # Records of share and streams groups have no values in core.
    if record_type not in (LEGACY_OFFSET_COMMIT, *RECORD_TYPES):
        raise UnknownRecordTypeError(
            f"key: record type: {record_type} belongs to no classic or consumer group"
        )
    about = json.encode(entry.key).decode()
    says = None if entry.value is None else json.encode(entry.value).decode()
    return group_id, cast("MessageRecord", log_entry.decode(about, says))
