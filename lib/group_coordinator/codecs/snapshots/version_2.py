"""Snapshots of version 2, as 0.2.0 wrote them: read, never written.

All members of a group had to be read together: those of a consumer group told what they had in common by its place in
lists, and times by the group's clock.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct, convert

from group_coordinator.codecs.snapshots.transactions import (
    PlacedTransactions,
    Waiting,
    unpacked,
)
from group_coordinator.core.assignors.spec import SubscriptionType
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member, Protocol
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    Assignment,
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    MemberState,
    OwnedPartitions,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timer, TimerKey, Timers
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.model.topic_offsets import TopicOffsets

_Target: TypeAlias = list[tuple[int, list[int]]]
"""(topic id, partitions)."""
_Partitions: TypeAlias = list[tuple[int, list[int], int | list[int]]]
"""(topic id, partitions, the assignment epoch of all of them or of each)."""
_Timer: TypeAlias = tuple[int, int | str, int, int]
"""(beginning of the key, member or its id, how long ago it was set, how long it takes)."""


class _Member(Struct, array_like=True, gc=False):
    """A member; numbers are places in the lists of the group."""

    member_id: str
    group_instance_id: str | None
    rack_id: str | None
    client_id: int
    client_host: int
    subscription: int
    rebalance_timeout_ms: int
    classic: tuple[int, list[tuple[str, bytes]]] | None
    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: _Partitions
    pending_revocation: _Partitions
    target: _Target | None


class _ConsumerGroup(Struct, array_like=True, tag="consumer", gc=False):
    """The membership of a consumer group."""

    epoch: int
    metadata_hash: int
    assignment_epoch: int
    assignment_timestamp_ms: int
    texts: list[str]
    subscriptions: list[tuple[tuple[str, ...], str | None, str | None]]
    """(topic names, regular expression, server assignor)."""
    members: list[_Member]
    other_targets: dict[str, _Target]
    """Of members that the log has told nothing else of."""
    regexes: dict[str, ResolvedRegex]
    timers: list[_Timer]
    rebalance_epochs: dict[str, int]
    metadata_deadline_ms: int
    former_instance_ids: dict[str, str]
    """Empty. As in Kafka 4.3, members kept their former instance ids; what was written then is passed by."""
    former_subscription_type: SubscriptionType | None = None


class _ClassicGroup(Struct, array_like=True, tag="classic", gc=False):
    """The membership of a classic group."""

    state: ClassicState
    previous_state: ClassicState
    state_timestamp_ms: int | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    subscribed_topics: list[str] | None
    members: list[Member]
    pending_joins: list[str]
    pending_syncs: list[str]
    timers: dict[str, Timer]
    initial_delay_left_ms: int | None
    new_member_added: bool


class _Snapshot(Struct, array_like=True, gc=False):
    """Everything of a group but its id."""

    version: int
    membership: _ClassicGroup | _ConsumerGroup | None
    offsets: dict[str, dict[int, CommittedOffset]]
    topics: list[Topic] | None
    clock_ms: int
    pending: list[Waiting]
    topics_version: int
    new_topics_version: int
    configs: dict[str, str]
    topics_are_complete: bool = True
    placed: PlacedTransactions | None = None


def group_of(layout: list[Any]) -> Group:
    """The group whose snapshot this was; its id was not in it.

    Raises:
        ValueError: it is no snapshot of this version.
    """
    snapshot = convert(layout, _Snapshot)
    placed = snapshot.placed
    return Group(
        "",
        _membership(snapshot),
        StoredValues.of(
            {topic: TopicOffsets.of(offsets) for topic, offsets in snapshot.offsets.items()}
        ),
        None if snapshot.topics is None else {topic.name: topic for topic in snapshot.topics},
        snapshot.clock_ms,
        pending=unpacked(snapshot.pending, placed),
        topics_version=snapshot.topics_version,
        new_topics_version=snapshot.new_topics_version,
        configs=snapshot.configs,
        topics_are_complete=snapshot.topics_are_complete,
        last_markers={} if placed is None else placed.last_markers,
    )


def _membership(snapshot: _Snapshot) -> ClassicGroup | ConsumerGroup | None:
    membership = snapshot.membership
    if isinstance(membership, _ConsumerGroup):
        return _consumer_group(membership, snapshot.clock_ms)
    return None if membership is None else _classic_group(membership)


def _classic_group(packed: _ClassicGroup) -> ClassicGroup:
    subscribed = packed.subscribed_topics
    return ClassicGroup(
        packed.state,
        packed.previous_state,
        packed.state_timestamp_ms,
        packed.generation,
        packed.protocol_type,
        packed.protocol,
        packed.leader,
        None if subscribed is None else frozenset(subscribed),
        StoredValues.of({member.member_id: member for member in packed.members}),
        set(packed.pending_joins),
        dict.fromkeys(packed.pending_syncs),
        Timers.of_texts(packed.timers),
        packed.initial_delay_left_ms,
        packed.new_member_added,
    )


def _consumer_group(packed: _ConsumerGroup, clock_ms: int) -> ConsumerGroup:
    texts = packed.texts
    membership = ConsumerGroup(
        packed.epoch,
        packed.metadata_hash,
        packed.assignment_epoch,
        packed.assignment_timestamp_ms,
        targets=StoredValues.of(
            {member_id: _target(each, texts) for member_id, each in packed.other_targets.items()}
        ),
        regexes=packed.regexes,
        timers=Timers(dict(_timer(timer, packed, clock_ms) for timer in packed.timers)),
        rebalance_epochs=packed.rebalance_epochs,
        metadata_deadline_ms=packed.metadata_deadline_ms,
    )
    for member in packed.members:
        membership.put(_consumer(member, packed))
        if member.target is not None:
            membership.targets[member.member_id] = _target(member.target, texts)
    # Replay puts each member twice at least.
    membership.member_room = len(membership.members) + 1
    membership.former_subscription_type = packed.former_subscription_type
    return membership


def _consumer(member: _Member, packed: _ConsumerGroup) -> ConsumerMember:
    texts = packed.texts
    names, regex, assignor = packed.subscriptions[member.subscription]
    return ConsumerMember(
        member.member_id,
        SubscriptionMetadata(
            member.group_instance_id,
            member.rack_id,
            texts[member.client_id],
            texts[member.client_host],
            names,
            regex,
            member.rebalance_timeout_ms,
            assignor,
            _classic(member),
        ),
        CurrentAssignment(
            member.epoch,
            member.previous_epoch,
            member.state,
            _partitions(member.assigned, texts),
            _partitions(member.pending_revocation, texts),
        ),
    )


def _classic(member: _Member) -> ClassicMetadata | None:
    if member.classic is None:
        return None
    session_timeout_ms, protocols = member.classic
    return ClassicMetadata(
        session_timeout_ms,
        tuple(Protocol(name, metadata) for name, metadata in protocols),
    )


def _partitions(packed: _Partitions, texts: list[str]) -> OwnedPartitions:
    return {
        texts[topic]: dict.fromkeys(partitions, epochs)
        if isinstance(epochs, int)
        else dict(zip(partitions, epochs, strict=True))
        for topic, partitions, epochs in packed
    }


def _target(packed: _Target, texts: list[str]) -> Assignment:
    return {texts[topic]: tuple(partitions) for topic, partitions in packed}


def _timer(timer: _Timer, packed: _ConsumerGroup, clock_ms: int) -> tuple[TimerKey, Timer]:
    kind, member, age_ms, delay_ms = timer
    member_id = member if isinstance(member, str) else packed.members[member].member_id
    armed_ms = clock_ms - age_ms
    return TimerKey.of(packed.texts[kind] + member_id), Timer(armed_ms + delay_ms, armed_ms)
