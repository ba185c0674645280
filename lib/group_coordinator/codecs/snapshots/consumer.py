"""The membership of a consumer group in a snapshot, made small: a group may have ten thousand members.

What members have in common (names, topic ids, whole subscriptions) is there once and referred to by its place; what
follows from the members is left out, and times are told from the group's clock. How it is made small is in
consumer_packing.py.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from group_coordinator.codecs.snapshots.timers import KINDS
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
