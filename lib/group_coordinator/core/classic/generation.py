"""A generation as others see it: what its members are told of it, and what the log gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import Member, Protocol
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, MemberMetadata
from group_coordinator.core.model.responses import (
    JoinedMember,
    JoinGroupResponse,
    SyncGroupResponse,
)


def join_answer(group: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """What JoinGroup tells a member of the current generation; the leader also learns the members."""
    return JoinGroupResponse(
        ErrorCode.NONE,
        member_id,
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader or "",
        members=_joined_members(group) if group.leader == member_id else (),
    )


def sync_answer(group: ClassicGroup, member: Member) -> SyncGroupResponse:
    """What SyncGroup tells a member of the current generation."""
    return SyncGroupResponse(ErrorCode.NONE, group.protocol_type, group.protocol, member.assignment)


def metadata_of(group: ClassicGroup, assignments: Mapping[str, bytes]) -> GroupMetadata:
    """The value that logs the group, with these assignments by member id."""
    members = tuple(
        MemberMetadata(
            member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            _selected(group, member),
            assignments.get(member_id, b""),
        )
        for member_id, member in sorted(group.members.items())
    )
    return GroupMetadata(
        group.protocol_type or "",
        group.generation,
        group.protocol,
        group.leader,
        group.state_timestamp_ms,
        members,
    )


def subscription_of_members(group: ClassicGroup) -> frozenset[str] | None:
    """The topics that the present members subscribe to with the selected protocol."""
    entries = (_selected(group, member) for member in group.members.values())
    return union_of_subscriptions(group.protocol_type, entries)


def union_of_subscriptions(
    protocol_type: str | None, entries: Iterable[Protocol]
) -> frozenset[str] | None:
    """All subscribed topics; None if one subscription is not readable or the members are no consumers (KIP-496)."""
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    topics: set[str] = set()
    for entry in entries:
        if entry.topics is None:
            return None
        topics.update(entry.topics)
    return frozenset(topics)


def _joined_members(group: ClassicGroup) -> tuple[JoinedMember, ...]:
    return tuple(
        JoinedMember(member_id, member.group_instance_id, _selected(group, member).metadata)
        for member_id, member in sorted(group.members.items())
    )


def _selected(group: ClassicGroup, member: Member) -> Protocol:
    return member.protocol(group.protocol) or Protocol(group.protocol or "", b"", None)
