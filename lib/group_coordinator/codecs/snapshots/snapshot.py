"""The state of a group as bytes: what one call of the stateful operator leaves to the next.

The layout is positional msgpack. Whatever changes it, in core's values too, needs a new SCHEMA_VERSION, and an entry in
UPCASTERS that brings the layout before it to the new one (but see parked.py). tests/golden keeps what each version wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct, convert, msgpack

from group_coordinator.codecs.snapshots import parked
from group_coordinator.codecs.snapshots.consumer import PackedConsumerGroup, pack, unpack
from group_coordinator.codecs.snapshots.timers import key_of, text_of
from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member, Protocol
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset, PendingOffset
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.ticket import Ticket
from group_coordinator.core.model.timers import Timer
from group_coordinator.core.model.topic import Topic

SCHEMA_VERSION = 2

Layout: TypeAlias = list[Any]
"""A snapshot as msgpack holds it, the version first."""


def _from_1(layout: Layout) -> Layout:
    """Version 1 knew classic groups alone: no versions of topics, no settings of groups."""
    _, membership, offsets, topics, clock_ms, pending = layout
    topics_version = 0 if topics is None else 1
    return [
        2,
        membership,
        offsets,
        topics,
        clock_ms,
        pending,
        topics_version,
        topics_version,
        {},
    ]


UPCASTERS: dict[int, Callable[[Layout], Layout]] = {1: _from_1}
"""By version: its layout becomes that of the next version, the new number included."""


class SnapshotError(ValueError):
    """The bytes are no snapshot, or one of a version that is not known here."""


class SnapshotVersionError(SnapshotError):
    """A later version of this program wrote the bytes."""


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


class _Classic(Struct, array_like=True, tag="classic", gc=False):
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


class _Snapshot(Struct, array_like=True, gc=False):
    """Everything of a group but its id. The version stays in front, whatever else a version changes.

    When the group wakes is not in it: settings may have changed since.
    """

    version: int
    membership: _Classic | PackedConsumerGroup | None
    offsets: dict[str, dict[int, CommittedOffset]]
    topics: list[Topic] | None
    clock_ms: int
    pending: list[tuple[str, int, dict[int, PendingOffset]]]
    topics_version: int
    new_topics_version: int
    configs: dict[str, str]
    topics_are_complete: bool = True


class _Versioned(Struct, array_like=True):
    version: int


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(_Snapshot).decode
_decode_version = msgpack.Decoder(_Versioned).decode


def dump(group: Group) -> bytes:
    """The group as bytes; sets are sorted, so that the same group always gives the same bytes."""
    return _encode(
        _Snapshot(
            SCHEMA_VERSION,
            _packed_membership(group),
            group.offsets,
            None if group.topics is None else list(group.topics.values()),
            group.clock_ms,
            [(*partition, producers) for partition, producers in group.pending.items()],
            group.topics_version,
            group.new_topics_version,
            dict(sorted(group.configs.items())),
            group.topics_are_complete,
        )
    )


def load(group_id: str, blob: bytes) -> Group:
    """The group that was dumped.

    Raises:
        SnapshotError: the bytes are no snapshot.
        SnapshotVersionError: they are one of a version that is not known here.
    """
    snapshot = _of_this_version(blob) or _of_an_earlier_version(group_id, blob)
    return Group(
        group_id,
        _unpacked_membership(snapshot),
        snapshot.offsets,
        None if snapshot.topics is None else {topic.name: topic for topic in snapshot.topics},
        snapshot.clock_ms,
        pending={(topic, partition): waiting for topic, partition, waiting in snapshot.pending},
        topics_version=snapshot.topics_version,
        new_topics_version=snapshot.new_topics_version,
        configs=snapshot.configs,
        topics_are_complete=snapshot.topics_are_complete,
    )


def _of_this_version(blob: bytes) -> _Snapshot | None:
    try:
        snapshot = _decode(blob)
    except (ValueError, RecursionError):
        return None
    return snapshot if snapshot.version == SCHEMA_VERSION else None


def _of_an_earlier_version(group_id: str, blob: bytes) -> _Snapshot:
    _refuse_later_version(group_id, blob)
    try:
        layout = msgpack.decode(blob, type=Layout)
        while layout[0] in UPCASTERS:
            layout = UPCASTERS[layout[0]](layout)
        snapshot = convert(layout, _Snapshot)
    except (ValueError, RecursionError, IndexError) as fault:
        raise SnapshotError(_complaint(group_id, blob)) from fault
    if snapshot.version != SCHEMA_VERSION:
        raise SnapshotError(_complaint(group_id, blob))
    return snapshot


def _refuse_later_version(group_id: str, blob: bytes) -> None:
    try:
        version = _decode_version(blob).version
    except (ValueError, RecursionError) as fault:
        raise SnapshotError(_complaint(group_id, blob)) from fault
    if version > SCHEMA_VERSION:
        raise SnapshotVersionError(_complaint(group_id, blob))


def _packed_membership(group: Group) -> _Classic | PackedConsumerGroup | None:
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        return pack(membership, group.clock_ms)
    return None if membership is None else _packed(membership)


def _unpacked_membership(snapshot: _Snapshot) -> ClassicGroup | ConsumerGroup | None:
    membership = snapshot.membership
    if isinstance(membership, PackedConsumerGroup):
        return unpack(membership, snapshot.clock_ms)
    return None if membership is None else _unpacked(membership)


def _packed(membership: ClassicGroup) -> _Classic:
    subscribed = membership.subscribed_topics
    return _Classic(
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


def _unpacked(membership: _Classic) -> ClassicGroup:
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


def _complaint(group_id: str, blob: bytes) -> str:
    try:
        version = _decode_version(blob).version
    except (ValueError, RecursionError):
        return f"the state of group {group_id!r} is not readable"
    if version == SCHEMA_VERSION:
        return f"the state of group {group_id!r} is damaged"
    return (
        f"the state of group {group_id!r} has schema version {version}; "
        f"this program knows {SCHEMA_VERSION}"
    )
