"""Records read back from the log: the inverse of records.py."""

from __future__ import annotations

from msgspec import DecodeError, Struct, json

from group_coordinator.codecs import consumer_record_decoder
from group_coordinator.codecs.consumer_record_decoder import ConsumerKey
from group_coordinator.codecs.fields import ABSENT, number_or_none
from group_coordinator.codecs.records import (
    COMMIT,
    GROUP_CONFIG,
    GROUP_METADATA,
    OFFSET_COMMIT,
    TRANSACTION_MARKER,
)
from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    ConfigRecord,
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    OffsetRecord,
    Reason,
    Record,
    TransactionMarker,
)


class RecordError(ValueError):
    """A key and a value that are no record of a group."""


class _Key(Struct):
    type: int
    data: _KeyData


class _KeyData(Struct, rename="camel"):
    group: str = ""
    group_id: str = ""
    topic: str = ""
    partition: int = 0
    type: int = 0
    name: str = ""
    member_id: str = ""
    regular_expression: str = ""


class _OffsetData(Struct, rename="camel"):
    offset: int
    commit_timestamp: int
    metadata: str = ""
    leader_epoch: int = ABSENT
    expire_timestamp: int = ABSENT
    topic_id: str | None = None


class _OffsetValue(Struct, rename="camel"):
    data: _OffsetData
    producer_id: int | None = None


class _MarkedOffset(_OffsetData, rename="camel", kw_only=True):
    topic: str
    partition: int


class _MarkerValue(Struct, rename="camel"):
    producer_id: int
    offsets: list[_MarkedOffset]


class _MemberData(Struct, rename="camel"):
    member_id: str
    client_id: str
    client_host: str
    session_timeout: int
    subscription: bytes
    assignment: bytes
    group_instance_id: str | None = None
    rebalance_timeout: int = ABSENT


class _GroupData(Struct, rename="camel"):
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    members: list[_MemberData]
    current_state_timestamp: int = ABSENT


class _GroupValue(Struct):
    data: _GroupData


class _ConfigData(Struct):
    value: str


class _ConfigValue(Struct):
    data: _ConfigData


class _NamedValue(Struct, rename="camel"):
    topic_names: dict[str, str] = {}


_decode_names = json.Decoder(_NamedValue).decode
_decode_key = json.Decoder(_Key).decode
_decode_offset = json.Decoder(_OffsetValue).decode
_decode_group = json.Decoder(_GroupValue).decode
_decode_config = json.Decoder(_ConfigValue).decode
_decode_marker = json.Decoder(_MarkerValue).decode


def decode(key: str, value: str | None, reason: Reason = Reason.MIRRORED) -> Record:
    """The record of a log entry; the reason is not part of Kafka's record.

    Raises:
        RecordError: it is none that a group writes.
    """
    try:
        about = _decode_key(key)
        record = _record(about.type, about.data, value, reason)
    except DecodeError as fault:
        raise RecordError(f"{key}: {fault}") from fault
    if record is None:
        raise RecordError(f"{key}: unknown record type {about.type}")
    return record


def topic_names(value: str) -> dict[str, str]:
    """The names of topics, by id, that the log keeps beside a value; none where a log from elsewhere has none."""
    return _decode_names(value).topic_names


def _record(record_type: int, about: _KeyData, value: str | None, reason: Reason) -> Record | None:
    if record_type == OFFSET_COMMIT:
        return _offset_record(about, value, reason)
    if record_type == GROUP_METADATA:
        group = None if value is None else _group_metadata(_decode_group(value).data)
        return GroupRecord(group, reason)
    if record_type == TRANSACTION_MARKER and value is not None:
        return _transaction_marker(about, _decode_marker(value))
    if record_type == GROUP_CONFIG:
        setting = None if value is None else _decode_config(value).data.value
        return ConfigRecord(about.name, setting, reason)
    key = ConsumerKey(record_type, about.member_id, about.regular_expression)
    return consumer_record_decoder.decode(key, value, reason)


def _offset_record(about: _KeyData, value: str | None, reason: Reason) -> OffsetRecord:
    if value is None:
        return OffsetRecord(about.topic, about.partition, None, reason)
    offset = _decode_offset(value)
    committed = _committed_offset(offset.data)
    return OffsetRecord(about.topic, about.partition, committed, reason, offset.producer_id)


def _transaction_marker(about: _KeyData, value: _MarkerValue) -> TransactionMarker:
    """What kind of marker it is says its reason already."""
    offsets = tuple(
        (marked.topic, marked.partition, _committed_offset(marked)) for marked in value.offsets
    )
    committed, aborted = Reason.TRANSACTION_COMMITTED, Reason.TRANSACTION_ABORTED
    reason = committed if about.type == COMMIT else aborted
    return TransactionMarker(value.producer_id, offsets, reason)


def _committed_offset(data: _OffsetData) -> CommittedOffset:
    return CommittedOffset(
        data.offset,
        number_or_none(data.leader_epoch),
        data.metadata,
        data.commit_timestamp,
        number_or_none(data.expire_timestamp),
        data.topic_id,
    )


def _group_metadata(data: _GroupData) -> GroupMetadata:
    readable = data.protocol_type == CONSUMER_PROTOCOL_TYPE
    return GroupMetadata(
        data.protocol_type,
        data.generation,
        data.protocol,
        data.leader,
        number_or_none(data.current_state_timestamp),
        tuple(
            MemberMetadata(
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout,
                member.session_timeout,
                Protocol(
                    data.protocol or "",
                    member.subscription,
                    parse_subscription(member.subscription) if readable else None,
                ),
                member.assignment,
            )
            for member in data.members
        ),
    )
