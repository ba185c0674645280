"""Makes the bytes that Kafka writes of a row of the log.

What a cluster wrote is only read; this is for tests and tools that need a topic like __consumer_offsets.
"""

from __future__ import annotations

from functools import cache

from msgspec import to_builtins

from group_coordinator.binary.faults import WRITING_FAILURES
from group_coordinator.binary.programs import Encoder
from group_coordinator.binary.rules import OFFSETS_TOPIC
from group_coordinator.codecs.offsets_topic.errors import (
    OffsetsTopicError,
    UnknownRecordTypeError,
    UnknownVersionError,
)
from group_coordinator.codecs.offsets_topic.schemas import RECORDS
from group_coordinator.codecs.records.envelope import LogEntry

_PREFIX_SIZE = 2


def encode_entry(entry: LogEntry) -> tuple[bytes, bytes | None]:
    """Key and value of a message, the value in the entry's version; None for a tombstone.

    Raises:
        UnknownRecordTypeError: Kafka 4.4.0 has no such type.
        UnknownVersionError: the type has no such version.
        OffsetsTopicError: a field is missing, or something is too long or too large for Kafka.
    """
    record_type = entry.key.type
    record = RECORDS.get(record_type)
    if record is None:
        raise UnknownRecordTypeError(f"key: record type: {record_type} is unknown")
    key = _part(record.key.name, record_type, _key_encoder(record_type), entry.key.data)
    if entry.value is None:
        return key, None
    part, version, versions = record.value.name, entry.value.version, record.value.versions
    if version not in versions:
        raise UnknownVersionError(f"{part}: version: {version} is not in 0-{versions[-1]}")
    return key, _part(part, version, _value_encoder(record_type, version), entry.value.data)


def _part(name: str, prefix: int, encoder: Encoder, data: object) -> bytes:
    out = bytearray(prefix.to_bytes(_PREFIX_SIZE))
    try:
        return bytes(encoder.run(out, to_builtins(data)))
    except WRITING_FAILURES as failure:
        raise OffsetsTopicError(f"{name}: {encoder.fault(failure)}") from failure


@cache
def _key_encoder(record_type: int) -> Encoder:
    return Encoder(RECORDS[record_type].key, 0, OFFSETS_TOPIC)


@cache
def _value_encoder(record_type: int, version: int) -> Encoder:
    return Encoder(RECORDS[record_type].value, version, OFFSETS_TOPIC)
