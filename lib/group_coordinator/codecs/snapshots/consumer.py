"""The membership of a consumer group in a snapshot, made small: a group may have ten thousand members.

What members have in common (names, topic ids, whole subscriptions) is there once and referred to by its place; what
follows from the members is left out, and times are told from the group's clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from group_coordinator.codecs.snapshots.timers import BEGINNINGS, KINDS
from group_coordinator.core.assignors.spec import SubscriptionType
from group_coordinator.core.model.classic_member import Protocol
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
from group_coordinator.core.model.timers import Timer, TimerKey

Item = TypeVar("Item")

PackedTarget: TypeAlias = list[tuple[int, list[int]]]
"""(topic id, partitions)."""
PackedPartitions: TypeAlias = list[tuple[int, list[int], int | list[int]]]
"""(topic id, partitions, the assignment epoch of all of them or of each)."""
PackedTimer: TypeAlias = tuple[int, int | str, int, int]
"""(beginning of the key, member or its id, how long ago it was set, how long it takes)."""


class PackedMember(Struct, array_like=True, gc=False):
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
    assigned: PackedPartitions
    pending_revocation: PackedPartitions
    target: PackedTarget | None


class PackedConsumerGroup(Struct, array_like=True, tag="consumer", gc=False):
    """The membership of a consumer group."""

    epoch: int
    metadata_hash: int
    assignment_epoch: int
    assignment_timestamp_ms: int
    texts: list[str]
    subscriptions: list[tuple[tuple[str, ...], str | None, str | None]]
    """(topic names, regular expression, server assignor)."""
    members: list[PackedMember]
    other_targets: dict[str, PackedTarget]
    """Of members that the log has told nothing else of."""
    regexes: dict[str, ResolvedRegex]
    timers: list[PackedTimer]
    rebalance_epochs: dict[str, int]
    metadata_deadline_ms: int
    former_instance_ids: dict[str, str]
    """Empty. As in Kafka 4.3, members kept their former instance ids; what was written then is passed by."""
    former_subscription_type: SubscriptionType | None = None


class _Places(Generic[Item]):
    """A list in which everything is once."""

    def __init__(self) -> None:
        self._places: dict[Item, int] = {}

    def of(self, item: Item) -> int:
        return self._places.setdefault(item, len(self._places))

    def items(self) -> list[Item]:
        return list(self._places)


def pack(membership: ConsumerGroup, clock_ms: int) -> PackedConsumerGroup:
    """Make the membership small."""
    texts: _Places[str] = _Places()
    subscriptions: _Places[tuple[tuple[str, ...], str | None, str | None]] = _Places()
    members = [
        _packed_member(member, membership.targets.get(member_id), texts, subscriptions)
        for member_id, member in membership.members.items()
    ]
    other_targets = {
        member_id: _packed_target(target, texts)
        for member_id, target in membership.targets.items()
        if member_id not in membership.members
    }
    places = {member_id: place for place, member_id in enumerate(membership.members)}
    timers = [
        _packed_timer(key, timer, texts, places, clock_ms)
        for key, timer in membership.timers.items()
    ]
    return PackedConsumerGroup(
        membership.epoch,
        membership.metadata_hash,
        membership.assignment_epoch,
        membership.assignment_timestamp_ms,
        texts.items(),
        subscriptions.items(),
        members,
        other_targets,
        membership.regexes,
        timers,
        membership.rebalance_epochs,
        membership.metadata_deadline_ms,
        {},
        membership.former_subscription_type,
    )


def _packed_member(
    member: ConsumerMember,
    target: Assignment | None,
    texts: _Places[str],
    subscriptions: _Places[tuple[tuple[str, ...], str | None, str | None]],
) -> PackedMember:
    metadata, current, classic = member.metadata, member.current, member.metadata.classic
    return PackedMember(
        member.member_id,
        metadata.group_instance_id,
        metadata.rack_id,
        texts.of(metadata.client_id),
        texts.of(metadata.client_host),
        subscriptions.of((metadata.topic_names, metadata.topic_regex, metadata.server_assignor)),
        metadata.rebalance_timeout_ms,
        None
        if classic is None
        else (classic.session_timeout_ms, [(p.name, p.metadata) for p in classic.protocols]),
        current.epoch,
        current.previous_epoch,
        current.state,
        _packed_partitions(current.assigned, texts),
        _packed_partitions(current.pending_revocation, texts),
        None if target is None else _packed_target(target, texts),
    )


def _packed_partitions(held: OwnedPartitions, texts: _Places[str]) -> PackedPartitions:
    return [
        (texts.of(topic_id), list(partitions), _packed_epochs(partitions.values()))
        for topic_id, partitions in held.items()
    ]


def _packed_epochs(epochs: Iterable[int]) -> int | list[int]:
    each = list(epochs)
    return each[0] if len(set(each)) == 1 else each


def _packed_target(target: Assignment, texts: _Places[str]) -> PackedTarget:
    return [(texts.of(topic_id), list(partitions)) for topic_id, partitions in target.items()]


def _packed_timer(
    key: TimerKey, timer: Timer, texts: _Places[str], places: dict[str, int], clock_ms: int
) -> PackedTimer:
    return (
        texts.of(BEGINNINGS[key.kind]),
        places.get(key.member_id, key.member_id),
        clock_ms - timer.armed_ms,
        timer.due_ms - timer.armed_ms,
    )


def unpack(packed: PackedConsumerGroup, clock_ms: int) -> ConsumerGroup:
    """The membership that was packed."""
    texts = packed.texts
    membership = ConsumerGroup(
        packed.epoch,
        packed.metadata_hash,
        packed.assignment_epoch,
        packed.assignment_timestamp_ms,
        targets={
            member_id: _target(target, texts) for member_id, target in packed.other_targets.items()
        },
        regexes=packed.regexes,
        timers=dict(_timer(timer, packed, clock_ms) for timer in packed.timers),
        rebalance_epochs=packed.rebalance_epochs,
        metadata_deadline_ms=packed.metadata_deadline_ms,
        former_subscription_type=packed.former_subscription_type,
    )
    membership.restore({member.member_id: _member(member, packed) for member in packed.members})
    for member in packed.members:
        if member.target is not None:
            membership.targets[member.member_id] = _target(member.target, texts)
    return membership


def _member(member: PackedMember, packed: PackedConsumerGroup) -> ConsumerMember:
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


def _classic(member: PackedMember) -> ClassicMetadata | None:
    if member.classic is None:
        return None
    session_timeout_ms, protocols = member.classic
    return ClassicMetadata(
        session_timeout_ms,
        tuple(Protocol(name, metadata) for name, metadata in protocols),
    )


def _partitions(packed: PackedPartitions, texts: list[str]) -> OwnedPartitions:
    return {
        texts[topic]: dict.fromkeys(partitions, epochs)
        if isinstance(epochs, int)
        else dict(zip(partitions, epochs, strict=True))
        for topic, partitions, epochs in packed
    }


def _target(packed: PackedTarget, texts: list[str]) -> Assignment:
    return {texts[topic]: tuple(partitions) for topic, partitions in packed}


def _timer(
    timer: PackedTimer, packed: PackedConsumerGroup, clock_ms: int
) -> tuple[TimerKey, Timer]:
    kind, member, age_ms, delay_ms = timer
    member_id = member if isinstance(member, str) else packed.members[member].member_id
    armed_ms = clock_ms - age_ms
    return TimerKey(KINDS[packed.texts[kind]], member_id), Timer(armed_ms + delay_ms, armed_ms)
