"""Makes the bytes that Kafka writes of a row of the log.

What a cluster wrote is only read; this is for tests and tools that need a topic like __consumer_offsets.
"""

from __future__ import annotations

from msgspec import to_builtins

from group_coordinator.codecs.kafka_bytes import FieldFaultError
from group_coordinator.codecs.offsets_topic.errors import (
    OffsetsTopicError,
    UnknownRecordTypeError,
    UnknownVersionError,
)
from group_coordinator.codecs.offsets_topic.schema_writer import struct_bytes
from group_coordinator.codecs.offsets_topic.schemas import SCHEMAS
from group_coordinator.codecs.offsets_topic.schemas.fields import OF_KEYS, Encoding, Struct
from group_coordinator.codecs.records.envelope import LogEntry

_PREFIX_SIZE = 2


def encode_entry(entry: LogEntry) -> tuple[bytes, bytes | None]:
    """Key and value of a message, the value in the entry's version; None for a tombstone.

    Raises:
        UnknownRecordTypeError: Kafka 4.4.0 has no such type.
        UnknownVersionError: the type has no such version.
        OffsetsTopicError: a field is missing, or something is too long or too large for Kafka.
    """
    schema = SCHEMAS.get(entry.key.type)
    if schema is None:
        raise UnknownRecordTypeError(f"key: record type: {entry.key.type} is unknown")
    key = _part(f"{schema.name}Key", entry.key.type, schema.key, entry.key.data, OF_KEYS)
    if entry.value is None:
        return key, None
    part, version = f"{schema.name}Value", entry.value.version
    if not 0 <= version <= schema.highest_version:
        raise UnknownVersionError(
            f"{part}: version: {version} is not in 0-{schema.highest_version}"
        )
    encoding = schema.encodings()[version]
    return key, _part(part, version, schema.value, entry.value.data, encoding)


def _part(name: str, prefix: int, layout: Struct, data: object, encoding: Encoding) -> bytes:
    try:
        fields = struct_bytes(layout, to_builtins(data), encoding)
    except FieldFaultError as fault:
        raise OffsetsTopicError(f"{name}: {fault}") from fault
    return prefix.to_bytes(_PREFIX_SIZE) + fields
