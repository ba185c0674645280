"""The membership of a consumer group in a group state: separate bytes of each member, each target and each bucket of owners.

A group may have ten thousand members, and an event concerns one of them. Values that the event does not read are not decoded,
and values that it does not replace are not encoded again. A subscription is stored once for all its members; every other field
is in the bytes of the member, so these depend on no other member. Bytes that are unreadable raise an error that names the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import TypeAlias, TypeVar

from msgspec import Raw, Struct, msgpack

from group_coordinator.core.assignors.spec import Assignment, SubscriptionType
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_group import (
    ConsumerGroup,
    NeighbourOwners,
    Owners,
    SharedSubscription,
    SharedSubscriptions,
    digest_of,
)
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    OwnedPartitions,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timer, Timers

Key = TypeVar("Key")
Stored = TypeVar("Stored")
Item = TypeVar("Item")


class SnapshotError(ValueError):
    """The bytes are no group state, or have an unknown version."""


class SnapshotVersionError(SnapshotError):
    """Another version of this program wrote the bytes, most likely a later version."""


def reader_of_a_part(read: Callable[[Key, Stored], Item]) -> Callable[[Key, Stored], Item]:
    """Wrap a decoder: its failures become SnapshotErrors that name the part."""

    # Parts are decoded late, in the middle of an event: the error must name the part.
    @wraps(read)
    def reading(key: Key, stored: Stored) -> Item:
        try:
            return read(key, stored)
        except (ValueError, RecursionError) as fault:
            raise SnapshotError(f"the stored state of {key!r} is damaged: {fault}") from fault

    return reading


PackedTarget: TypeAlias = dict[str, tuple[int, ...]]
"""Partitions by topic id."""
PackedPartitions: TypeAlias = dict[str, tuple[list[int], int | list[int]]]
"""By topic id: partitions, and one assignment epoch for all of them or a list of epochs."""
PackedOwners: TypeAlias = dict[str, list[int]]
"""The owned partitions of each member, among neighbouring partitions."""


class PackedMember(Struct, array_like=True, gc=False, kw_only=True):
    """A member without its id, which is the key."""

    group_instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscription: bytes
    """The digest of the subscription."""
    rebalance_timeout_ms: int
    classic: tuple[int, list[tuple[str, bytes]]] | None
    """Session timeout and protocols."""
    epoch: int
    previous_epoch: int
    state: ReconciliationState
    assigned: PackedPartitions
    pending_revocation: PackedPartitions


class PackedConsumerGroup(Struct, array_like=True, tag="consumer", gc=False, kw_only=True):
    epoch: int
    metadata_hash: int
    assignment_epoch: int
    assignment_timestamp_ms: int
    subscriptions: dict[bytes, SharedSubscription]
    members: dict[str, Raw]
    targets: dict[str, Raw]
    owners: dict[str, Raw]
    static_members: dict[str, str]
    classic_member_count: int
    classic_protocols: dict[str, int]
    regexes: dict[str, ResolvedRegex]
    timers: dict[str, Timer]
    rebalance_epochs: dict[str, int]
    metadata_deadline_ms: int
    member_room: int
    former_subscription_type: SubscriptionType | None


_encode = msgpack.Encoder().encode
_decode_member = msgpack.Decoder(PackedMember).decode
_decode_target = msgpack.Decoder(PackedTarget).decode
_decode_owners = msgpack.Decoder(PackedOwners).decode


def pack(membership: ConsumerGroup) -> PackedConsumerGroup:
    """Convert the membership for encoding."""
    return PackedConsumerGroup(
        epoch=membership.epoch,
        metadata_hash=membership.metadata_hash,
        assignment_epoch=membership.assignment_epoch,
        assignment_timestamp_ms=membership.assignment_timestamp_ms,
        subscriptions=membership.subscriptions.by_digest,
        members=membership.members.stored(_stored_member),
        targets=membership.targets.stored(_stored_target),
        owners=membership.owners.by_neighbours.stored(_stored_owners),
        static_members=membership.static_members,
        classic_member_count=membership.classic_member_count,
        classic_protocols=membership.classic_protocols,
        regexes=membership.regexes,
        timers=membership.timers.by_text,
        rebalance_epochs=membership.rebalance_epochs,
        metadata_deadline_ms=membership.metadata_deadline_ms,
        member_room=membership.member_room,
        former_subscription_type=membership.former_subscription_type,
    )


def unpack(packed: PackedConsumerGroup) -> ConsumerGroup:
    """Convert a decoded membership. Its parts are decoded when they are read. Raises SnapshotError: a subscription has no members."""
    subscriptions = packed.subscriptions
    # Checked here, as a subscription without members would never be removed.
    for digest, shared in subscriptions.items():
        if shared.subscribers < 1:
            raise SnapshotError(
                f"subscription {digest.hex()}: subscribers = {shared.subscribers}, must be at least 1"
            )
    membership = ConsumerGroup(
        epoch=packed.epoch,
        metadata_hash=packed.metadata_hash,
        assignment_epoch=packed.assignment_epoch,
        assignment_timestamp_ms=packed.assignment_timestamp_ms,
        members=StoredValues.unread(
            packed.members, reader_of_a_part(partial(_member, subscriptions))
        ),
        targets=StoredValues.unread(packed.targets, _target),
        regexes=packed.regexes,
        timers=Timers.of_texts(packed.timers),
        rebalance_epochs=packed.rebalance_epochs,
        metadata_deadline_ms=packed.metadata_deadline_ms,
        static_members=packed.static_members,
        owners=Owners(StoredValues.unread(packed.owners, _owners)),
        subscriptions=SharedSubscriptions(subscriptions),
        classic_member_count=packed.classic_member_count,
        classic_protocols=packed.classic_protocols,
        member_room=packed.member_room,
        former_subscription_type=packed.former_subscription_type,
    )
    # Indexes are not stored: from the shared subscriptions they are counted without decoding a member.
    membership.count_subscribers()
    return membership


# Members.


def _stored_member(member: ConsumerMember) -> Raw:
    metadata, current, classic = member.metadata, member.current, member.metadata.classic
    return Raw(
        _encode(
            PackedMember(
                group_instance_id=metadata.group_instance_id,
                rack_id=metadata.rack_id,
                client_id=metadata.client_id,
                client_host=metadata.client_host,
                subscription=digest_of(metadata),
                rebalance_timeout_ms=metadata.rebalance_timeout_ms,
                classic=(
                    None
                    if classic is None
                    else (
                        classic.session_timeout_ms,
                        [(p.name, p.metadata) for p in classic.protocols],
                    )
                ),
                epoch=current.epoch,
                previous_epoch=current.previous_epoch,
                state=current.state,
                assigned=_packed_partitions(current.assigned),
                pending_revocation=_packed_partitions(current.pending_revocation),
            )
        )
    )


def _member(
    subscriptions: dict[bytes, SharedSubscription], member_id: str, encoded: Raw
) -> ConsumerMember:
    member = _decode_member(encoded)
    subscription = subscriptions.get(member.subscription)
    if subscription is None:
        raise SnapshotError("its subscription is missing")
    return ConsumerMember(
        member_id,
        SubscriptionMetadata(
            group_instance_id=member.group_instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            topic_names=subscription.topic_names,
            topic_regex=subscription.topic_regex,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=subscription.server_assignor,
            classic=_classic(member),
        ),
        CurrentAssignment(
            member.epoch,
            member.previous_epoch,
            member.state,
            _partitions(member.assigned),
            _partitions(member.pending_revocation),
        ),
    )


def _classic(member: PackedMember) -> ClassicMetadata | None:
    if member.classic is None:
        return None
    session_timeout_ms, protocols = member.classic
    return ClassicMetadata(
        session_timeout_ms, tuple(Protocol(name, metadata) for name, metadata in protocols)
    )


def _packed_partitions(held: OwnedPartitions) -> PackedPartitions:
    return {
        topic_id: (list(partitions), _packed_epochs(partitions.values()))
        for topic_id, partitions in held.items()
    }


def _packed_epochs(epochs: Iterable[int]) -> int | list[int]:
    each = list(epochs)
    # Members usually get all partitions of a topic in one epoch.
    return each[0] if each and each.count(each[0]) == len(each) else each


def _partitions(packed: PackedPartitions) -> OwnedPartitions:
    return {
        topic_id: dict.fromkeys(partitions, epochs)
        if isinstance(epochs, int)
        else dict(zip(partitions, epochs, strict=True))
        for topic_id, (partitions, epochs) in packed.items()
    }


# Targets and owners.


def _stored_target(target: Assignment) -> Raw:
    return Raw(_encode(target))


@reader_of_a_part
def _target(_member_id: str, encoded: Raw) -> Assignment:
    return _decode_target(encoded)


def _stored_owners(owners: NeighbourOwners) -> Raw:
    # By member and not by partition: a member id has 22 characters or more, and a member mostly owns several
    # neighbours.
    by_member: PackedOwners = {}
    for number, member_id in sorted(owners.items()):
        by_member.setdefault(member_id, []).append(number)
    return Raw(_encode(by_member))


@reader_of_a_part
def _owners(_key: str, encoded: Raw) -> NeighbourOwners:
    by_member = _decode_owners(encoded)
    return {number: member_id for member_id, numbers in by_member.items() for number in numbers}
