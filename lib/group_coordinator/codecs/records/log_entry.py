"""The codec of all records: it chooses the module of a record by its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import DecodeError, Struct, json

from group_coordinator.codecs.records import (
    consumer_group,
    consumer_member,
    group_config,
    group_metadata,
    offset,
    record_types,
    transaction_marker,
)
from group_coordinator.codecs.records.record_types import LogEntry
from group_coordinator.core.model.records import (
    ConfigRecord,
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    MemberRecord,
    OffsetRecord,
    PartitionMetadataTombstone,
    Reason,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
    TransactionMarker,
)
from group_coordinator.core.model.requests import Topic


class RecordError(ValueError):
    """A key and a value that are no record of a group."""


class _Kind(Struct):
    """The part of a key that decides about the rest."""

    type: int


_decode_kind = json.Decoder(_Kind).decode


def encode(  # noqa: PLR0911 - one line a record
    group_id: str, record: Record, topics: Mapping[str, Topic] | None = None
) -> LogEntry:
    """Convert a record to a row of the log. The names of its topic ids are kept next to Kafka's value."""
    match record:
        case OffsetRecord():
            return offset.encode(group_id, record)
        case GroupRecord():
            return group_metadata.encode(group_id, record)
        case (
            GroupEpochRecord() | PartitionMetadataTombstone() | TargetEpochRecord() | RegexRecord()
        ):
            return consumer_group.encode(group_id, record)
        case MemberRecord() | TargetRecord() | CurrentRecord():
            return consumer_member.encode(group_id, record, topics or {})
        case TransactionMarker():
            return transaction_marker.encode(group_id, record)
        case ConfigRecord():
            return group_config.encode(group_id, record)
        case _:
            assert_never(record)


def type_of(key: str) -> int:
    """Return the record type of a log entry. Raises RecordError: the key has no type."""
    try:
        return _decode_kind(key).type
    except DecodeError as fault:
        raise RecordError(f"{key}: {fault}") from fault


def decode(key: str, value: str | None, reason: Reason = Reason.MIRRORED) -> Record:
    """Return the record of a log entry. The reason is not part of Kafka's record. Raises RecordError: no group writes it."""
    try:
        return _record(key, value, reason)
    except DecodeError as fault:
        raise RecordError(f"{key}: {fault}") from fault


def _record(key: str, value: str | None, reason: Reason) -> Record:  # noqa: PLR0911 - one line a record
    record_type = _decode_kind(key).type
    match record_type:
        case record_types.OFFSET_COMMIT | record_types.LEGACY_OFFSET_COMMIT:
            return offset.decode(key, value, reason)
        case record_types.GROUP_METADATA:
            return group_metadata.decode(value, reason)
        # A marker has no tombstone.
        case record_types.TRANSACTION_MARKER if value is not None:
            return transaction_marker.decode(key, value)
        case record_types.GROUP_CONFIG:
            return group_config.decode(key, value, reason)
        case _ if record_type in record_types.OF_MEMBERS:
            return consumer_member.decode(record_type, key, value, reason)
        case _ if record_type in record_types.OF_CONSUMER_GROUPS.values():
            return consumer_group.decode(record_type, key, value, reason)
        case _:
            # Records of share and streams groups too: core has no such groups.
            raise RecordError(f"{key}: unknown record type {record_type}")
