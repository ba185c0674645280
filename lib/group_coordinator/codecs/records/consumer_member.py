"""Record types 5, 7 and 8 (ConsumerGroup*.json in Kafka) of members of consumer groups (KIP-848).

Topics and partitions are sorted. Kafka leaves their order to hash maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeAlias, assert_never

from msgspec import UNSET, Raw, Struct, UnsetType, json

from group_coordinator.codecs.records import consumer_group, record_types
from group_coordinator.codecs.records.consumer_group import TopicPartitionsData
from group_coordinator.codecs.records.record_types import Data, Key, LogEntry, RecordValue
from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    CurrentAssignment,
    OwnedPartitions,
    SubscriptionMetadata,
)
from group_coordinator.core.model.records import CurrentRecord, MemberRecord, Reason, TargetRecord
from group_coordinator.core.model.requests import Topic

RecordOfMember: TypeAlias = MemberRecord | TargetRecord | CurrentRecord


class MemberKeyData(Struct, frozen=True, gc=False, rename="camel"):
    group_id: str
    member_id: str


class ProtocolData(Struct, frozen=True, gc=False):
    """A protocol of a member that speaks the classic protocol."""

    name: str
    metadata: bytes


class ClassicData(Struct, frozen=True, gc=False, rename="camel"):
    session_timeout_ms: int
    supported_protocols: list[ProtocolData]


class MemberData(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Record type 5: identity and subscription of the member. Without a regular expression the field is empty."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: ClassicData | None = None


class TargetData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 7: the target assignment."""

    topic_partitions: list[TopicPartitionsData]


class CurrentData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 8: the current assignment."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[TopicPartitionsData]
    partitions_pending_revocation: list[TopicPartitionsData]


class NamedValue(
    RecordValue[Data], Generic[Data], frozen=True, gc=False, kw_only=True, rename="camel"
):
    """Kafka's value, which has only topic ids, and next to it the names of these topics by id."""

    topic_names: dict[str, str] | UnsetType = UNSET


_decode_key = json.Decoder(Key[MemberKeyData]).decode
_decode_member = json.Decoder(NamedValue[MemberData]).decode
_decode_target = json.Decoder(NamedValue[TargetData]).decode
_decode_current = json.Decoder(NamedValue[CurrentData]).decode
# Without the rest of the value, which only replay needs.
_decode_names = json.Decoder(NamedValue[Raw]).decode


def encode(group_id: str, record: RecordOfMember, topics: Mapping[str, Topic]) -> LogEntry:
    """Return the row of the log, with the names of an assignment's topics."""
    record_type = record_types.OF_CONSUMER_GROUPS[type(record)]
    key = Key(record_type, MemberKeyData(group_id, record.member_id))
    return LogEntry(key, _value(record, topics), member_id=record.member_id)


def _value(record: RecordOfMember, topics: Mapping[str, Topic]) -> NamedValue[Any] | None:
    match record.value:
        case None:
            return None
        case SubscriptionMetadata() as metadata:
            return NamedValue(data=_member_data(metadata))
        case dict() as assignment:
            names = _names(assignment.keys(), topics)
            return NamedValue(data=target_data(assignment), topic_names=names)
        case CurrentAssignment() as current:
            names = _names(current.assigned.keys() | current.pending_revocation.keys(), topics)
            return NamedValue(data=_current_data(current), topic_names=names)
        case _:
            assert_never(record.value)


def _names(topic_ids: AbstractSet[str], topics: Mapping[str, Topic]) -> dict[str, str] | UnsetType:
    names = {topic.topic_id: topic.name for topic in topics.values() if topic.topic_id in topic_ids}
    # Without known topics Kafka's value stays as it is.
    return names or UNSET


def _member_data(metadata: SubscriptionMetadata) -> MemberData:
    return MemberData(
        instance_id=metadata.group_instance_id,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        subscribed_topic_names=list(metadata.topic_names),
        # A member without a regular expression has an empty text in the record.
        subscribed_topic_regex=metadata.topic_regex or "",
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        server_assignor=metadata.server_assignor,
        classic_member_metadata=(
            None if metadata.classic is None else _classic_data(metadata.classic)
        ),
    )


def _classic_data(classic: ClassicMetadata) -> ClassicData:
    protocols = [ProtocolData(entry.name, entry.metadata) for entry in classic.protocols]
    return ClassicData(classic.session_timeout_ms, protocols)


def target_data(assignment: Assignment) -> TargetData:
    """Convert a target assignment to the form of Kafka's record."""
    topics = sorted(assignment.items())
    return TargetData([TopicPartitionsData(topic_id, list(found)) for topic_id, found in topics])


def _current_data(current: CurrentAssignment) -> CurrentData:
    return CurrentData(
        current.epoch,
        current.previous_epoch,
        current.state,
        _owned_data(current.assigned),
        _owned_data(current.pending_revocation),
    )


def _owned_data(owned: OwnedPartitions) -> list[TopicPartitionsData]:
    return [
        TopicPartitionsData(
            # Epochs stand in the order of the partitions: both are sorted together.
            topic_id,
            sorted(partitions),
            [epoch for _, epoch in sorted(partitions.items())],
        )
        for topic_id, partitions in sorted(owned.items())
    ]


def decode(record_type: int, key: str, value: str | None, reason: Reason) -> RecordOfMember:
    """Return the record of a log entry of these types."""
    member_id = _decode_key(key).data.member_id
    match record_type:
        case record_types.MEMBER_METADATA:
            member = None if value is None else _metadata(_decode_member(value).data)
            return MemberRecord(member_id, member, reason)
        case record_types.TARGET_ASSIGNMENT:
            target = None if value is None else _decode_target(value).data.topic_partitions
            assignment = None if target is None else consumer_group.assignment(target)
            return TargetRecord(member_id, assignment, reason)
        case _:
            current = None if value is None else _current(_decode_current(value).data)
            return CurrentRecord(member_id, current, reason)


def topic_names(value: str) -> dict[str, str]:
    """Return the topic names next to a value, by topic id. Logs of other origin have none."""
    names = _decode_names(value).topic_names
    return {} if names is UNSET else names


def _metadata(data: MemberData) -> SubscriptionMetadata:
    classic = data.classic_member_metadata
    return SubscriptionMetadata(
        group_instance_id=data.instance_id,
        rack_id=data.rack_id,
        client_id=data.client_id,
        client_host=data.client_host,
        topic_names=consumer_group.topic_names(data.subscribed_topic_names),
        topic_regex=data.subscribed_topic_regex or None,
        rebalance_timeout_ms=data.rebalance_timeout_ms,
        server_assignor=data.server_assignor,
        classic=None if classic is None else _classic(classic),
    )


def _classic(data: ClassicData) -> ClassicMetadata:
    protocols = [Protocol(entry.name, entry.metadata) for entry in data.supported_protocols]
    return ClassicMetadata(data.session_timeout_ms, tuple(protocols))


def _current(data: CurrentData) -> CurrentAssignment:
    return CurrentAssignment(
        data.member_epoch,
        data.previous_member_epoch,
        consumer_group.member_state(data.state),
        consumer_group.owned_partitions(data.assigned_partitions, data.member_epoch),
        consumer_group.owned_partitions(data.partitions_pending_revocation, data.member_epoch),
    )
