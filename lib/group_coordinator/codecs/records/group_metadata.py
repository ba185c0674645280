"""Record type 2 (GroupMetadataKey.json, GroupMetadataValue.json in Kafka): a classic group."""

from __future__ import annotations

from msgspec import Struct, json

from group_coordinator.codecs.fields import ABSENT, number_on_wire, number_or_none
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, MemberMetadata, Reason

_VERSION = 3


class GroupKeyData(Struct, frozen=True, gc=False):
    group: str


class ClassicMemberData(Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """A member. Older versions have fewer fields."""

    member_id: str
    group_instance_id: str | None = None
    client_id: str
    client_host: str
    rebalance_timeout: int = ABSENT
    session_timeout: int
    subscription: bytes
    assignment: bytes


class GroupData(Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """A group. Older versions have fewer fields."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int = ABSENT
    members: list[ClassicMemberData]


_decode_value = json.Decoder(RecordValue[GroupData]).decode


def encode(group_id: str, record: GroupRecord) -> LogEntry:
    key, group = Key(record_types.GROUP_METADATA, GroupKeyData(group_id)), record.value
    return LogEntry(
        key, None if group is None else RecordValue(version=_VERSION, data=_data(group))
    )


def _data(group: GroupMetadata) -> GroupData:
    return GroupData(
        protocol_type=group.protocol_type,
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=number_on_wire(group.state_timestamp_ms),
        members=[_member_data(member) for member in group.members],
    )


def _member_data(member: MemberMetadata) -> ClassicMemberData:
    return ClassicMemberData(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.subscription.metadata,
        assignment=member.assignment,
    )


def decode(value: str | None, reason: Reason) -> GroupRecord:
    return GroupRecord(None if value is None else _group(_decode_value(value).data), reason)


def _group(data: GroupData) -> GroupMetadata:
    return GroupMetadata(
        protocol_type=data.protocol_type,
        generation=data.generation,
        protocol=data.protocol,
        leader=data.leader,
        state_timestamp_ms=number_or_none(data.current_state_timestamp),
        members=tuple(_member(member, data) for member in data.members),
    )


def _member(member: ClassicMemberData, group: GroupData) -> MemberMetadata:
    return MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout,
        session_timeout_ms=member.session_timeout,
        # The record has only the members' metadata of the elected protocol.
        subscription=Protocol(group.protocol or "", member.subscription),
        assignment=member.assignment,
    )
