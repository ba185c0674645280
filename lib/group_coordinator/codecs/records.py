"""Records of Kafka's __consumer_offsets as JSON: keys and values as Kafka's own converters print them."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from msgspec import DecodeError, Struct, json

from group_coordinator.codecs.consumer_protocol import parse_subscription
from group_coordinator.codecs.primitives import ABSENT, number_on_wire, number_or_none
from group_coordinator.core.group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.records import (
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    OffsetRecord,
    Reason,
    Record,
)
from group_coordinator.core.values import CommittedOffset, Protocol

JsonObject: TypeAlias = dict[str, Any]

OFFSET_COMMIT = 1
GROUP_METADATA = 2
_OFFSET_VERSION = 4
_EXPIRING_OFFSET_VERSION = 1
"""The one version with an expire timestamp; it knows neither leader epoch nor topic id."""
_GROUP_VERSION = 3


class RecordError(ValueError):
    """A key and a value that are no record of a group."""


class LogEntry(Struct, frozen=True, gc=False):
    """A record as the log keeps it: JSON objects, and the facts that tables ask for."""

    record_type: int
    key: JsonObject
    value: JsonObject | None
    topic: str | None
    partition: int | None
    member_id: str | None
    offset: int | None


def log_entry(group_id: str, record: Record) -> LogEntry:
    """A record as a row of the log."""
    key, value = key_to_json(group_id, record), value_to_json(record)
    match record:
        case OffsetRecord():
            offset = None if record.value is None else record.value.offset
            return LogEntry(OFFSET_COMMIT, key, value, record.topic, record.partition, None, offset)
        case GroupRecord():
            return LogEntry(GROUP_METADATA, key, value, None, None, None, None)
        case _:
            assert_never(record)


def key_to_json(group_id: str, record: Record) -> JsonObject:
    """What the record is about."""
    match record:
        case OffsetRecord():
            data = {"group": group_id, "topic": record.topic, "partition": record.partition}
            return {"type": OFFSET_COMMIT, "data": data}
        case GroupRecord():
            return {"type": GROUP_METADATA, "data": {"group": group_id}}
        case _:
            assert_never(record)


def value_to_json(record: Record) -> JsonObject | None:
    """What the record says; None for a tombstone."""
    if record.value is None:
        return None
    match record.value:
        case CommittedOffset(expire_timestamp_ms=None):
            return {"version": _OFFSET_VERSION, "data": _offset(record.value)}
        case CommittedOffset():
            return {"version": _EXPIRING_OFFSET_VERSION, "data": _expiring_offset(record.value)}
        case GroupMetadata():
            return {"version": _GROUP_VERSION, "data": _group(record.value)}
        case _:
            assert_never(record.value)


def _offset(offset: CommittedOffset) -> JsonObject:
    data = {
        "offset": offset.offset,
        "leaderEpoch": number_on_wire(offset.leader_epoch),
        "metadata": offset.metadata,
        "commitTimestamp": offset.commit_timestamp_ms,
    }
    if offset.topic_id is not None:
        data["topicId"] = offset.topic_id
    return data


def _expiring_offset(offset: CommittedOffset) -> JsonObject:
    return {
        "offset": offset.offset,
        "metadata": offset.metadata,
        "commitTimestamp": offset.commit_timestamp_ms,
        "expireTimestamp": offset.expire_timestamp_ms,
    }


def _group(group: GroupMetadata) -> JsonObject:
    return {
        "protocolType": group.protocol_type,
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
        "currentStateTimestamp": number_on_wire(group.state_timestamp_ms),
        "members": [
            {
                "memberId": member.member_id,
                "groupInstanceId": member.group_instance_id,
                "clientId": member.client_id,
                "clientHost": member.client_host,
                "rebalanceTimeout": member.rebalance_timeout_ms,
                "sessionTimeout": member.session_timeout_ms,
                "subscription": member.subscription.metadata,
                "assignment": member.assignment,
            }
            for member in group.members
        ],
    }


class _Key(Struct):
    type: int
    data: _KeyData


class _KeyData(Struct):
    group: str
    topic: str = ""
    partition: int = 0


class _OffsetData(Struct, rename="camel"):
    offset: int
    commit_timestamp: int
    metadata: str = ""
    leader_epoch: int = ABSENT
    expire_timestamp: int = ABSENT
    topic_id: str | None = None


class _OffsetValue(Struct):
    data: _OffsetData


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


_decode_key = json.Decoder(_Key).decode
_decode_offset = json.Decoder(_OffsetValue).decode
_decode_group = json.Decoder(_GroupValue).decode


def decode(key: str, value: str | None, reason: Reason = Reason.MIRRORED) -> Record:
    """The record of a log entry; the reason is not part of Kafka's record.

    Raises:
        RecordError: it is none that a classic group writes.
    """
    try:
        about = _decode_key(key)
        if about.type == OFFSET_COMMIT:
            offset = None if value is None else _committed_offset(_decode_offset(value).data)
            return OffsetRecord(about.data.topic, about.data.partition, offset, reason)
        if about.type == GROUP_METADATA:
            group = None if value is None else _group_metadata(_decode_group(value).data)
            return GroupRecord(group, reason)
    except DecodeError as fault:
        raise RecordError(f"{key}: {fault}") from fault
    raise RecordError(f"{key}: unknown record type {about.type}")


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
