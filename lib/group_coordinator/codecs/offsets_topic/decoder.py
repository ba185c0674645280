"""One message of __consumer_offsets, of any type and version, as the log keeps it: JSON as Kafka's own formatter prints it.

Made for a live cluster's bytes: it reads whatever Kafka 4.4.0 reads (`elements.py` and `schema_reader.py` say what that is
beyond what Kafka writes), and says of the rest what is wrong with it. Like Kafka 4.3.1, and unlike 4.4.0, it also reads arrays of
more than 1,000,000 elements and structs with more than 10,000 tagged fields. One thing is printed otherwise: a
`classicMemberMetadata` that has its default is left out also where an unknown tagged field is in it.
"""

from __future__ import annotations

from typing import Any

from group_coordinator.codecs.kafka_bytes import FieldFaultError
from group_coordinator.codecs.offsets_topic.elements import Read, number
from group_coordinator.codecs.offsets_topic.errors import (
    DamagedMessageError,
    UnknownRecordTypeError,
    UnknownVersionError,
)
from group_coordinator.codecs.offsets_topic.schema_reader import struct_reader
from group_coordinator.codecs.offsets_topic.schemas import SCHEMAS
from group_coordinator.codecs.offsets_topic.schemas.fields import OF_KEYS, RecordSchema
from group_coordinator.codecs.records.envelope import Key, LogEntry, Value

_read_int16 = number("h")
_PREFIX_SIZE = 2
"""Of the record type in front of a key, and of the version in front of a value."""


class _RecordReader:
    """Reads the keys and the values of one record type."""

    def __init__(self, schema: RecordSchema) -> None:
        self.name = schema.name
        self.group_field = schema.key.fields[0].name
        self.read_key = struct_reader(schema.key, OF_KEYS)
        self.read_values = [
            struct_reader(schema.value, encoding) for encoding in schema.encodings()
        ]


_READERS = {record_type: _RecordReader(schema) for record_type, schema in SCHEMAS.items()}


def decode_entry(key: bytes | None, value: bytes | None) -> tuple[str, LogEntry]:
    """The group of a message, and the message as a row of the log; a value of None is a tombstone.

    Raises:
        UnknownRecordTypeError: the key is of no type that Kafka 4.4.0 has.
        UnknownVersionError: the value is of no version of its type that Kafka 4.4.0 has.
        DamagedMessageError: there is no key, or a field of the key or of the value cannot be read.
    """
    if key is None:
        raise DamagedMessageError("key: is null")
    record_type = _prefix("key: record type", key)
    reader = _READERS.get(record_type)
    if reader is None:
        raise UnknownRecordTypeError(f"key: record type: {record_type} is unknown")
    about = _fields(f"{reader.name}Key", reader.read_key, key)
    group_id: str = about[reader.group_field]
    topic, partition, member_id = about.get("topic"), about.get("partition"), about.get("memberId")
    entry_key = Key(record_type, about)
    if value is None:
        return group_id, LogEntry(entry_key, None, topic, partition, member_id)
    version, says = _read_value(reader, value)
    entry_value = Value(version=version, data=says)
    offset = says.get("offset")
    return group_id, LogEntry(entry_key, entry_value, topic, partition, member_id, offset)


def _read_value(reader: _RecordReader, value: bytes) -> tuple[int, dict[str, Any]]:
    part = f"{reader.name}Value"
    version = _prefix(f"{part}: version", value)
    if not 0 <= version < len(reader.read_values):
        highest = len(reader.read_values) - 1
        raise UnknownVersionError(f"{part}: version: {version} is not in 0-{highest}")
    return version, _fields(part, reader.read_values[version], value)


def _prefix(field: str, data: bytes) -> int:
    if len(data) < _PREFIX_SIZE:
        raise DamagedMessageError(f"{field}: {_PREFIX_SIZE} bytes wanted, {len(data)} left")
    return _read_int16(data, 0)[0]


def _fields(part: str, read: Read, data: bytes) -> dict[str, Any]:
    try:
        found: dict[str, Any] = read(data, _PREFIX_SIZE)[0]
    except FieldFaultError as fault:
        raise DamagedMessageError(f"{part}: {fault}") from fault
    return found
