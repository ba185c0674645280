"""The membership of a classic group in a group state: the bytes of each member, and the index over all members."""

from __future__ import annotations

from msgspec import Raw, Struct, msgpack

from group_coordinator.codecs.snapshots.consumer import reader_of_a_part
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.consumer_member import MemberIndex
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timer, Timers


class PackedClassicGroup(Struct, array_like=True, tag="classic", gc=False, kw_only=True):
    """The membership of a classic group. The tag makes other types possible."""

    state: ClassicState
    previous_state: ClassicState
    state_timestamp_ms: int | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    subscribed_topics: list[str] | None
    # Raw: a heartbeat of one member must not decode ten thousand others.
    members: dict[str, Raw]
    """The members by id, in core's order."""
    index: MemberIndex
    pending_joins: list[str]
    pending_syncs: list[str]
    timers: dict[str, Timer]
    initial_delay_left_ms: int | None
    new_member_added: bool


_OF_NO_MEMBERS = MemberIndex()

_encode = msgpack.Encoder().encode
_decode_member = msgpack.Decoder(ClassicMember).decode


def pack(membership: ClassicGroup) -> PackedClassicGroup:
    """Convert the membership for encoding; sets are sorted."""
    subscribed = membership.subscribed_topics
    return PackedClassicGroup(
        state=membership.state,
        previous_state=membership.previous_state,
        state_timestamp_ms=membership.state_timestamp_ms,
        generation=membership.generation,
        protocol_type=membership.protocol_type,
        protocol=membership.protocol,
        leader=membership.leader,
        subscribed_topics=None if subscribed is None else sorted(subscribed),
        members=membership.members.stored(_stored_member),
        # Sorted, as equal groups must have equal bytes in any order of joins.
        index=membership.index.sorted() if membership.members else _OF_NO_MEMBERS,
        pending_joins=sorted(membership.pending_joins),
        pending_syncs=list(membership.pending_syncs),
        timers=membership.timers.by_text,
        initial_delay_left_ms=membership.initial_delay_left_ms,
        new_member_added=membership.new_member_added,
    )


def unpack(membership: PackedClassicGroup) -> ClassicGroup:
    """Convert a decoded membership. Members are decoded when they are read."""
    subscribed = membership.subscribed_topics
    return ClassicGroup(
        state=membership.state,
        previous_state=membership.previous_state,
        state_timestamp_ms=membership.state_timestamp_ms,
        generation=membership.generation,
        protocol_type=membership.protocol_type,
        protocol=membership.protocol,
        leader=membership.leader,
        subscribed_topics=None if subscribed is None else frozenset(subscribed),
        members=StoredValues.unread(membership.members, _member),
        pending_joins=set(membership.pending_joins),
        pending_syncs=dict.fromkeys(membership.pending_syncs),
        timers=Timers.of_texts(membership.timers),
        initial_delay_left_ms=membership.initial_delay_left_ms,
        new_member_added=membership.new_member_added,
        known_index=membership.index,
    )


def _stored_member(member: ClassicMember) -> Raw:
    return Raw(_encode(member))


@reader_of_a_part
def _member(_member_id: str, encoded: Raw) -> ClassicMember:
    return _decode_member(encoded)
