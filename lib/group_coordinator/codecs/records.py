"""Records as JSON: those of Kafka's __consumer_offsets, keys and values as Kafka's own converters print them; and ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from group_coordinator.codecs import consumer_records
from group_coordinator.codecs.fields import number_on_wire
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    ConfigRecord,
    GroupMetadata,
    GroupRecord,
    OffsetRecord,
    Reason,
    Record,
    TransactionMarker,
)
from group_coordinator.core.model.topic import Topic

JsonObject: TypeAlias = dict[str, Any]

OFFSET_COMMIT = 1
GROUP_METADATA = 2
TRANSACTION_MARKER = -1
"""Ours: Kafka's control records have numbers of their own, which mean something else among these."""
GROUP_CONFIG = -2
"""Ours: Kafka keeps the settings of groups in its metadata log."""
_OFFSET_VERSION = 4
_EXPIRING_OFFSET_VERSION = 1
"""The one version with an expire timestamp; it knows neither leader epoch nor topic id."""
_GROUP_VERSION = 3
_MARKER_VERSION = 0
_CONFIG_VERSION = 0
RECORD_TYPES = (
    OFFSET_COMMIT,
    GROUP_METADATA,
    *consumer_records.RECORD_TYPES.values(),
    TRANSACTION_MARKER,
    GROUP_CONFIG,
)
"""All that groups are made of."""
ABORT, COMMIT = 0, 1
"""Kafka's types of control records."""


class LogEntry(Struct, frozen=True, gc=False):
    """A record as the log keeps it: JSON objects, and the facts that tables ask for."""

    record_type: int
    key: JsonObject
    value: JsonObject | None
    topic: str | None
    partition: int | None
    member_id: str | None
    offset: int | None


def log_entry(group_id: str, record: Record, topics: Mapping[str, Topic] | None = None) -> LogEntry:
    """A record as a row of the log; the names of topics whose ids it has are kept beside what Kafka would write."""
    key, value = key_to_json(group_id, record), value_to_json(record)
    match record:
        case OffsetRecord():
            offset = None if record.value is None else record.value.offset
            return LogEntry(OFFSET_COMMIT, key, value, record.topic, record.partition, None, offset)
        case GroupRecord():
            return LogEntry(GROUP_METADATA, key, value, None, None, None, None)
        case TransactionMarker():
            return LogEntry(TRANSACTION_MARKER, key, value, None, None, None, None)
        case ConfigRecord():
            return LogEntry(GROUP_CONFIG, key, value, None, None, None, None)
        case _:
            member_id = consumer_records.member_of(record)
            names = consumer_records.topic_names(record, topics or {})
            if value is not None and names:
                value["topicNames"] = names
            return LogEntry(key["type"], key, value, None, None, member_id, None)


def key_to_json(group_id: str, record: Record) -> JsonObject:
    """What the record is about."""
    match record:
        case OffsetRecord():
            data = {"group": group_id, "topic": record.topic, "partition": record.partition}
            return {"type": OFFSET_COMMIT, "data": data}
        case GroupRecord():
            return {"type": GROUP_METADATA, "data": {"group": group_id}}
        case TransactionMarker():
            kind = COMMIT if record.reason is Reason.TRANSACTION_COMMITTED else ABORT
            data = {"group": group_id, "version": _MARKER_VERSION, "type": kind}
            return {"type": TRANSACTION_MARKER, "data": data}
        case ConfigRecord():
            return {"type": GROUP_CONFIG, "data": {"group": group_id, "name": record.name}}
        case _:
            return consumer_records.key_to_json(group_id, record)


def value_to_json(record: Record) -> JsonObject | None:
    """What the record says; None for a tombstone."""
    match record:
        case OffsetRecord():
            return None if record.value is None else _offset_value(record.value, record.producer_id)
        case GroupRecord():
            group = record.value
            return None if group is None else {"version": _GROUP_VERSION, "data": _group(group)}
        case TransactionMarker():
            return _marker(record)
        case ConfigRecord():
            value = record.value
            return None if value is None else {"version": _CONFIG_VERSION, "data": {"value": value}}
        case _:
            return consumer_records.value_to_json(record)


def _offset_value(offset: CommittedOffset, producer_id: int | None) -> JsonObject:
    """In a transaction with the producer id, which Kafka keeps in the batch's header."""
    if offset.expire_timestamp_ms is not None:
        return {"version": _EXPIRING_OFFSET_VERSION, "data": _expiring_offset(offset)}
    value = {"version": _OFFSET_VERSION, "data": _offset(offset)}
    return value if producer_id is None else value | {"producerId": producer_id}


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


def _marker(marker: TransactionMarker) -> JsonObject:
    """Kafka's marker, with the producer id of its batch and with the offsets that it makes count."""
    offsets = [
        {"topic": topic, "partition": partition, **_offset(offset)}
        for topic, partition, offset in marker.offsets
    ]
    return {
        "version": _MARKER_VERSION,
        "data": {"coordinatorEpoch": 0},
        "producerId": marker.producer_id,
        "offsets": offsets,
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
