"""A generation in responses and in the log: JoinGroup, SyncGroup and the group's metadata.

Stories: stories/classic/joining.py, stories/classic/syncing.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, Protocol
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, MemberMetadata
from group_coordinator.core.model.responses import (
    JoinedMember,
    JoinGroupResponse,
    SyncGroupResponse,
)


def join_answer(membership: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """Return the JoinGroup response of a member of the current generation. The leader also gets the members."""
    return JoinGroupResponse(
        error=ErrorCode.NONE,
        member_id=member_id,
        generation=membership.generation,
        protocol_type=membership.protocol_type,
        protocol=membership.protocol,
        leader=membership.leader or "",
        # Only the leader assigns, so only it needs the subscriptions of all members.
        members=_joined_members(membership) if membership.leader == member_id else (),
    )


def sync_answer(membership: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    """Return the SyncGroup response of a member of the current generation."""
    return SyncGroupResponse(
        ErrorCode.NONE, membership.protocol_type, membership.protocol, member.assignment
    )


def metadata_of(membership: ClassicGroup, assignments: Mapping[str, bytes]) -> GroupMetadata:
    """Return the log's value of the group with these assignments by member id."""
    members = tuple(
        MemberMetadata(
            member_id=member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            session_timeout_ms=member.session_timeout_ms,
            subscription=_selected(membership, member),
            # A member that the leader forgot gets an empty assignment, as in Kafka.
            assignment=assignments.get(member_id, b""),
        )
        # Sorted for the sake of equal bytes; Kafka iterates over a hash map.
        for member_id, member in sorted(membership.members.items())
    )
    return GroupMetadata(
        protocol_type=membership.protocol_type or "",
        generation=membership.generation,
        protocol=membership.protocol,
        leader=membership.leader,
        state_timestamp_ms=membership.state_timestamp_ms,
        members=members,
    )


def subscription_of_members(membership: ClassicGroup) -> frozenset[str] | None:
    """Return the topics that the present members subscribe to with the selected protocol."""
    entries = (_selected(membership, member) for member in membership.members.values())
    return union_of_subscriptions(membership.protocol_type, entries)


def union_of_subscriptions(
    protocol_type: str | None, entries: Iterable[Protocol]
) -> frozenset[str] | None:
    """Return all subscribed topics; None if a subscription is unreadable or the members are not consumers (KIP-496)."""
    if protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    topics: set[str] = set()
    for entry in entries:
        # One unreadable subscription could protect any topic, so the result is unknown.
        subscribed = entry.topics
        if subscribed is None:
            return None
        topics.update(subscribed)
    return frozenset(topics)


def _joined_members(membership: ClassicGroup) -> tuple[JoinedMember, ...]:
    return tuple(
        JoinedMember(member_id, member.group_instance_id, _selected(membership, member).metadata)
        for member_id, member in sorted(membership.members.items())
    )


def _selected(membership: ClassicGroup, member: ClassicMember) -> Protocol:
    return member.protocol(membership.protocol) or Protocol(membership.protocol or "", b"")
