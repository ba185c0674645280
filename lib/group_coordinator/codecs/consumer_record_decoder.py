"""Records of consumer groups (KIP-848) read back from their JSON: the inverse of consumer_records.py."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct, json

from group_coordinator.codecs import consumer_records, consumer_values
from group_coordinator.codecs.consumer_values import TopicPartitions
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    Reason,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)

Data = TypeVar("Data", bound=Struct)


class _GroupEpoch(Struct, rename="camel"):
    epoch: int
    metadata_hash: int = 0


class _Protocol(Struct, rename="camel"):
    name: str
    metadata: bytes


class _ClassicMetadata(Struct, rename="camel"):
    session_timeout_ms: int
    supported_protocols: list[_Protocol]


class _Member(Struct, rename="camel"):
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: _ClassicMetadata | None = None


class _TargetEpoch(Struct, rename="camel"):
    assignment_epoch: int
    assignment_timestamp: int = 0


class _TopicPartitions(Struct, rename="camel"):
    topic_id: str
    partitions: list[int]
    assignment_epochs: list[int] | None = None


class _Target(Struct, rename="camel"):
    topic_partitions: list[_TopicPartitions]


class _Current(Struct, rename="camel"):
    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[_TopicPartitions]
    partitions_pending_revocation: list[_TopicPartitions]


class _Regex(Struct, rename="camel"):
    topics: list[str]
    version: int
    timestamp: int


class _Value(Struct, Generic[Data]):
    data: Data


_decode_group_epoch = json.Decoder(_Value[_GroupEpoch]).decode
_decode_member = json.Decoder(_Value[_Member]).decode
_decode_target_epoch = json.Decoder(_Value[_TargetEpoch]).decode
_decode_target = json.Decoder(_Value[_Target]).decode
_decode_current = json.Decoder(_Value[_Current]).decode
_decode_regex = json.Decoder(_Value[_Regex]).decode


class ConsumerKey(NamedTuple):
    """What a consumer group's record is about, beside the group."""

    record_type: int
    member_id: str
    regular_expression: str


def decode(key: ConsumerKey, value: str | None, reason: Reason) -> ConsumerRecord | None:  # noqa: PLR0911 - one line a record
    """The record of a log entry; None: its type is none of a consumer group.

    Raises:
        msgspec.DecodeError: the value is none of this type.
    """
    match key.record_type:
        case consumer_records.GROUP_EPOCH:
            return GroupEpochRecord(None if value is None else _group_epoch(value), reason)
        case consumer_records.PARTITION_METADATA:
            return PartitionMetadataTombstone(
                reason
            )  # what older brokers kept there counts no more
        case consumer_records.MEMBER_METADATA:
            member = None if value is None else _member(_decode_member(value).data)
            return MemberRecord(key.member_id, member, reason)
        case consumer_records.TARGET_EPOCH:
            return TargetEpochRecord(None if value is None else _target_epoch(value), reason)
        case consumer_records.TARGET_ASSIGNMENT:
            target = None if value is None else _decode_target(value).data.topic_partitions
            assignment = None if target is None else consumer_values.assignment(map(_topic, target))
            return TargetRecord(key.member_id, assignment, reason)
        case consumer_records.CURRENT_ASSIGNMENT:
            current = None if value is None else _current(_decode_current(value).data)
            return CurrentRecord(key.member_id, current, reason)
        case consumer_records.REGULAR_EXPRESSION:
            regex = None if value is None else _regex(_decode_regex(value).data)
            return RegexRecord(key.regular_expression, regex, reason)
        case _:
            return None


def _group_epoch(value: str) -> GroupEpoch:
    data = _decode_group_epoch(value).data
    return GroupEpoch(data.epoch, data.metadata_hash)


def _target_epoch(value: str) -> TargetEpoch:
    data = _decode_target_epoch(value).data
    return TargetEpoch(data.assignment_epoch, data.assignment_timestamp)


def _member(data: _Member) -> SubscriptionMetadata:
    classic = data.classic_member_metadata
    return SubscriptionMetadata(
        data.instance_id,
        data.rack_id,
        data.client_id,
        data.client_host,
        consumer_values.topic_names(data.subscribed_topic_names),
        data.subscribed_topic_regex or None,
        data.rebalance_timeout_ms,
        data.server_assignor,
        None if classic is None else _classic(classic),
    )


def _classic(data: _ClassicMetadata) -> ClassicMetadata:
    protocols = [
        consumer_values.classic_protocol(entry.name, entry.metadata)
        for entry in data.supported_protocols
    ]
    return ClassicMetadata(data.session_timeout_ms, tuple(protocols))


def _current(data: _Current) -> CurrentAssignment:
    assigned, pending = data.assigned_partitions, data.partitions_pending_revocation
    return CurrentAssignment(
        data.member_epoch,
        data.previous_member_epoch,
        consumer_values.member_state(data.state),
        consumer_values.owned_partitions(map(_topic, assigned), data.member_epoch),
        consumer_values.owned_partitions(map(_topic, pending), data.member_epoch),
    )


def _regex(data: _Regex) -> ResolvedRegex:
    return ResolvedRegex(consumer_values.topic_names(data.topics), data.version, data.timestamp)


def _topic(data: _TopicPartitions) -> TopicPartitions:
    return TopicPartitions(data.topic_id, data.partitions, data.assignment_epochs)
