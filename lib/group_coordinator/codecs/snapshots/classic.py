"""The membership of a classic group in a snapshot."""

from __future__ import annotations

from msgspec import Struct

from group_coordinator.codecs.snapshots import parked
from group_coordinator.codecs.snapshots.timers import by_text, key_of
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.timers import Timer


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
    members: list[Member]
    """As the core has them: of a group of ten thousand, nothing is made one by one but its members themselves."""
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
        [
            member
            if member.awaiting_join is None and member.awaiting_sync is None
            else _with_shorter_tickets(member)
            for member in membership.members.values()
        ],
        sorted(membership.pending_joins),
        sorted(membership.pending_syncs),
        by_text(membership.timers),
        membership.initial_delay_left_ms,
        membership.new_member_added,
    )


def unpack(membership: PackedClassicGroup) -> ClassicGroup:
    """The inverse of pack."""
    subscribed = membership.subscribed_topics
    return ClassicGroup(
        membership.state,
        membership.previous_state,
        membership.state_timestamp_ms,
        membership.generation,
        membership.protocol_type,
        membership.protocol,
        membership.leader,
        None if subscribed is None else frozenset(subscribed),
        {member.member_id: member for member in membership.members},
        set(membership.pending_joins),
        set(membership.pending_syncs),
        {key_of(text): timer for text, timer in membership.timers.items()},
        membership.initial_delay_left_ms,
        membership.new_member_added,
    )


def _with_shorter_tickets(member: Member) -> Member:
    return member.replace(
        awaiting_join=parked.packed(member.awaiting_join),
        awaiting_sync=parked.packed(member.awaiting_sync),
    )
