"""The membership of a classic group in a snapshot."""

from __future__ import annotations

from msgspec import Struct

from group_coordinator.codecs.snapshots import parked
from group_coordinator.codecs.snapshots.timers import key_of, text_of
from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member, Protocol
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.ticket import Ticket
from group_coordinator.core.model.timers import Timer


class _Member(Struct, array_like=True, gc=False):
    """A member without what follows from the rest: the topics that its protocols' metadata name."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: list[tuple[str, bytes]]
    assignment: bytes
    is_new: bool
    awaiting_join: Ticket | None
    awaiting_sync: Ticket | None


class PackedClassicGroup(Struct, array_like=True, tag="classic", gc=False):
    """The membership of a classic group; the tag leaves room for other kinds."""

    state: ClassicState
    previous_state: ClassicState
    state_timestamp_ms: int | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    subscribed_topics: list[str] | None
    members: list[_Member]
    pending_joins: list[str]
    pending_syncs: list[str]
    timers: dict[str, Timer]
    initial_delay_left_ms: int | None
    new_member_added: bool


def pack(membership: ClassicGroup) -> PackedClassicGroup:
    """The membership as it is written; sets are sorted."""
    subscribed = membership.subscribed_topics
    return PackedClassicGroup(
        membership.state,
        membership.previous_state,
        membership.state_timestamp_ms,
        membership.generation,
        membership.protocol_type,
        membership.protocol,
        membership.leader,
        None if subscribed is None else sorted(subscribed),
        [_packed_member(member) for member in membership.members.values()],
        sorted(membership.pending_joins),
        sorted(membership.pending_syncs),
        {text_of(key): timer for key, timer in membership.timers.items()},
        membership.initial_delay_left_ms,
        membership.new_member_added,
    )


def unpack(membership: PackedClassicGroup) -> ClassicGroup:
    """The inverse of pack."""
    subscribed = membership.subscribed_topics
    restored = ClassicGroup(
        membership.state,
        membership.previous_state,
        membership.state_timestamp_ms,
        membership.generation,
        membership.protocol_type,
        membership.protocol,
        membership.leader,
        None if subscribed is None else frozenset(subscribed),
        pending_joins=set(membership.pending_joins),
        pending_syncs=set(membership.pending_syncs),
        timers={key_of(text): timer for text, timer in membership.timers.items()},
        initial_delay_left_ms=membership.initial_delay_left_ms,
        new_member_added=membership.new_member_added,
    )
    readable = restored.is_of_consumers
    restored.members = {
        member.member_id: _unpacked_member(member, readable=readable)
        for member in membership.members
    }
    return restored


def _packed_member(member: Member) -> _Member:
    return _Member(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.session_timeout_ms,
        [(protocol.name, protocol.metadata) for protocol in member.protocols],
        member.assignment,
        member.is_new,
        parked.packed(member.awaiting_join),
        parked.packed(member.awaiting_sync),
    )


def _unpacked_member(member: _Member, *, readable: bool) -> Member:
    return Member(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.session_timeout_ms,
        tuple(
            Protocol(name, metadata, parse_subscription(metadata) if readable else None)
            for name, metadata in member.protocols
        ),
        member.assignment,
        member.is_new,
        member.awaiting_join,
        member.awaiting_sync,
    )
