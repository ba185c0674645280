"""One message of __consumer_offsets, of any type and version, as the log keeps it: JSON as Kafka's own formatter prints it.

It reads all bytes that Kafka 4.4.0 reads (`binary/decoder_source.py`), and reports the fault of all others. There are two
differences. Like Kafka 4.3.1, it also reads arrays of more than 1,000,000 elements and structs with more than 10,000 tagged
fields. A `classicMemberMetadata` that has its default is left out even if it has an unknown tagged field.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from group_coordinator.binary.faults import READING_FAILURES
from group_coordinator.binary.programs import Decoder
from group_coordinator.binary.rules import OFFSETS_TOPIC
from group_coordinator.codecs.offsets_topic.errors import (
    DamagedMessageError,
    UnknownRecordTypeError,
    UnknownVersionError,
)
from group_coordinator.codecs.offsets_topic.schemas import RECORDS
from group_coordinator.codecs.offsets_topic.schemas.record import Record
from group_coordinator.codecs.records.envelope import Key, LogEntry, Value

_PREFIX = struct.Struct(">h")
"""The record type at the start of a key, and the version at the start of a value."""


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
    record = RECORDS.get(record_type)
    if record is None:
        raise UnknownRecordTypeError(f"key: record type: {record_type} is unknown")
    about = _fields(record.key.name, _key_decoder(record_type), key)
    group_id: str = about[record.key.fields[0].name]
    topic, partition, member_id = about.get("topic"), about.get("partition"), about.get("memberId")
    entry_key = Key(record_type, about)
    if value is None:
        return group_id, LogEntry(entry_key, None, topic, partition, member_id)
    version, says = _read_value(record, value)
    entry_value = Value(version=version, data=says)
    offset = says.get("offset")
    return group_id, LogEntry(entry_key, entry_value, topic, partition, member_id, offset)


def _read_value(record: Record, value: bytes) -> tuple[int, dict[str, Any]]:
    part, versions = record.value.name, record.value.versions
    version = _prefix(f"{part}: version", value)
    if version not in versions:
        raise UnknownVersionError(f"{part}: version: {version} is not in 0-{versions[-1]}")
    return version, _fields(part, _value_decoder(record.type, version), value)


def _prefix(field: str, data: bytes) -> int:
    if len(data) < _PREFIX.size:
        raise DamagedMessageError(f"{field}: {_PREFIX.size} bytes wanted, {len(data)} left")
    found: int = _PREFIX.unpack_from(data)[0]
    return found


def _fields(part: str, decoder: Decoder, data: bytes) -> dict[str, Any]:
    try:
        return decoder.run(data, _PREFIX.size, len(data))[0]
    except READING_FAILURES as failure:
        raise DamagedMessageError(f"{part}: {decoder.fault(failure)}") from failure


@cache
def _key_decoder(record_type: int) -> Decoder:
    return Decoder(RECORDS[record_type].key, 0, OFFSETS_TOPIC)


@cache
def _value_decoder(record_type: int, version: int) -> Decoder:
    return Decoder(RECORDS[record_type].value, version, OFFSETS_TOPIC)
