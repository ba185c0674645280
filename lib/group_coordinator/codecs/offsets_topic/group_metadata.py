"""The value of record type 2 (GroupMetadataValue.json in Kafka)."""

from __future__ import annotations

from group_coordinator.codecs.fields import ABSENT, number_on_wire, number_or_none
from group_coordinator.codecs.offsets_topic.reader import Reader
from group_coordinator.codecs.offsets_topic.writer import Writer
from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.records import GroupMetadata, MemberMetadata

PART = "GroupMetadata value"
HIGHEST_VERSION = 4
WRITTEN_VERSION = 3
"""Kafka 4.4.0 reads version 4 and does not write it yet."""
_REBALANCE_TIMEOUT_SINCE = 1
_STATE_TIMESTAMP_SINCE = 2
_GROUP_INSTANCE_ID_SINCE = 3


def write(writer: Writer, group: GroupMetadata) -> None:
    """Write the fields of the writer's version; what it has no place for is left out, as Kafka does."""
    writer.text("protocolType", group.protocol_type)
    writer.int32("generation", group.generation)
    writer.text("protocol", group.protocol)
    writer.text("leader", group.leader)
    if writer.version >= _STATE_TIMESTAMP_SINCE:
        writer.int64("currentStateTimestamp", number_on_wire(group.state_timestamp_ms))
    writer.count("members", len(group.members))
    for member in group.members:
        _write_member(writer, member)
    writer.tagged_fields({})


def _write_member(writer: Writer, member: MemberMetadata) -> None:
    writer.text("memberId", member.member_id)
    if writer.version >= _GROUP_INSTANCE_ID_SINCE:
        writer.text("groupInstanceId", member.group_instance_id)
    writer.text("clientId", member.client_id)
    writer.text("clientHost", member.client_host)
    if writer.version >= _REBALANCE_TIMEOUT_SINCE:
        writer.int32("rebalanceTimeout", member.rebalance_timeout_ms)
    writer.int32("sessionTimeout", member.session_timeout_ms)
    writer.blob("subscription", member.subscription.metadata)
    writer.blob("assignment", member.assignment)
    writer.tagged_fields({})


def read(reader: Reader) -> GroupMetadata:
    """Read the fields of the reader's version; what it has no place for is absent."""
    protocol_type = reader.text("protocolType")
    generation = reader.int32("generation")
    protocol = reader.text_or_none("protocol")
    leader = reader.text_or_none("leader")
    has_timestamp = reader.version >= _STATE_TIMESTAMP_SINCE
    state_timestamp_ms = reader.int64("currentStateTimestamp") if has_timestamp else ABSENT
    members = tuple(
        _read_member(reader, protocol_type, protocol) for _ in range(reader.count("members"))
    )
    reader.tagged_fields()
    return GroupMetadata(
        protocol_type,
        generation,
        protocol,
        leader,
        number_or_none(state_timestamp_ms),
        members,
    )


def _read_member(reader: Reader, protocol_type: str, protocol: str | None) -> MemberMetadata:
    member_id = reader.text("memberId")
    has_instance_id = reader.version >= _GROUP_INSTANCE_ID_SINCE
    group_instance_id = reader.text_or_none("groupInstanceId") if has_instance_id else None
    client_id = reader.text("clientId")
    client_host = reader.text("clientHost")
    has_rebalance_timeout = reader.version >= _REBALANCE_TIMEOUT_SINCE
    rebalance_timeout_ms = reader.int32("rebalanceTimeout") if has_rebalance_timeout else ABSENT
    session_timeout_ms = reader.int32("sessionTimeout")
    subscription = reader.blob("subscription")
    assignment = reader.blob("assignment")
    reader.tagged_fields()
    readable = protocol_type == CONSUMER_PROTOCOL_TYPE
    topics = parse_subscription(subscription) if readable else None
    return MemberMetadata(
        member_id,
        group_instance_id,
        client_id,
        client_host,
        rebalance_timeout_ms,
        session_timeout_ms,
        Protocol(protocol or "", subscription, topics),
        assignment,
    )
