"""Makes a consumer group small, as consumer.py has it, and does not do again what is as it was the time before.

What a member becomes depends on itself, its target, and which texts and subscriptions the members before it have brought
into the lists. So a member that is as it was stays as it was, if every member before it brings what it did. That holds for
heartbeats, also where partitions move; where it does not, all members are packed anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeAlias, TypeVar, cast

from msgspec import Raw, msgpack

from group_coordinator.codecs.snapshots.consumer import (
    PackedConsumerGroup,
    PackedMember,
    PackedPartitions,
    PackedTarget,
    PackedTimer,
)
from group_coordinator.codecs.snapshots.packed_members import (
    PackedAs,
    PackedMembers,
    Subscription,
)
from group_coordinator.codecs.snapshots.timers import BEGINNINGS
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    Assignment,
    ConsumerMember,
    OwnedPartitions,
)
from group_coordinator.core.model.timers import TimerKind

Item = TypeVar("Item")

_encode = msgpack.Encoder().encode


class _MovedError(Exception):
    """Something has another place than the time before."""


class _MorePlaces(dict[str, int]):
    """The places in a list that goes on where another one ends."""

    def __init__(self, first: Mapping[str, int]) -> None:
        super().__init__()
        self._first = first

    def __missing__(self, item: str) -> int:
        place = self._first.get(item)
        if place is None:
            place = self[item] = len(self._first) + len(self)
        return place


class _SamePlaces(Generic[Item]):
    """A list that is complete, gone through again from `length` on: what comes next must be what came next."""

    def __init__(self, places: Mapping[Item, int], length: int) -> None:
        self._places = places
        self.length = length

    def __getitem__(self, item: Item) -> int:
        place = self._places.get(item, self.length + 1)
        if place > self.length:
            raise _MovedError
        if place == self.length:
            self.length += 1
        return place


Texts: TypeAlias = dict[str, int] | _SamePlaces[str]
Subscriptions: TypeAlias = dict[Subscription, int] | _SamePlaces[Subscription]


_NOTHING = PackedAs(ConsumerMember(""), None, Raw(), 0, 0)


def pack(membership: ConsumerGroup, clock_ms: int) -> PackedConsumerGroup:
    """Make the membership small."""
    memo = _members(membership)
    texts = _MorePlaces(memo.texts)
    other_targets = {
        member_id: _packed_target(target, texts)
        for member_id, target in membership.targets.items()
        if member_id not in membership.members
    }
    timers = _packed_timers(membership, texts, memo.places, clock_ms)
    return PackedConsumerGroup(
        membership.epoch,
        membership.metadata_hash,
        membership.assignment_epoch,
        membership.assignment_timestamp_ms,
        [*memo.texts, *texts],
        list(memo.subscriptions),
        cast("list[PackedMember]", [packed.encoded for packed in memo.members]),
        other_targets,
        membership.regexes,
        timers,
        membership.rebalance_epochs,
        membership.metadata_deadline_ms,
        {},
        membership.former_subscription_type,
    )


def _members(membership: ConsumerGroup) -> PackedMembers:
    memo = membership.memo
    members = [
        (member, membership.targets.get(member_id))
        for member_id, member in membership.members.items()
    ]
    if isinstance(memo, PackedMembers) and len(memo.members) <= len(members):
        try:
            _pack_changed(memo, members)
        except _MovedError:
            memo = None
    else:
        memo = None
    if memo is None:
        memo = membership.memo = PackedMembers()
    for member, target in members[len(memo.members) :]:
        _append(memo, member, target)
    return memo


def _pack_changed(
    memo: PackedMembers, members: list[tuple[ConsumerMember, Assignment | None]]
) -> None:
    changed = [
        place
        for place, (packed, (member, target)) in enumerate(zip(memo.members, members, strict=False))
        if packed.member is not member or packed.target is not target
    ]
    for place in changed:
        was, (member, target) = memo.members[place], members[place]
        if was.member.member_id != member.member_id:
            raise _MovedError
        before = memo.members[place - 1] if place else _NOTHING
        texts = _SamePlaces(memo.texts, before.texts)
        subscriptions = _SamePlaces(memo.subscriptions, before.subscriptions)
        encoded = Raw(_encode(_packed_member(member, target, texts, subscriptions)))
        if (texts.length, subscriptions.length) != (was.texts, was.subscriptions):
            raise _MovedError
        memo.members[place] = was._replace(member=member, target=target, encoded=encoded)


def _append(memo: PackedMembers, member: ConsumerMember, target: Assignment | None) -> None:
    texts, subscriptions = memo.texts, memo.subscriptions
    encoded = Raw(_encode(_packed_member(member, target, texts, subscriptions)))
    memo.places[member.member_id] = len(memo.members)
    memo.members.append(PackedAs(member, target, encoded, len(texts), len(subscriptions)))


def _packed_member(
    member: ConsumerMember, target: Assignment | None, texts: Texts, subscriptions: Subscriptions
) -> PackedMember:
    metadata, current, classic = member.metadata, member.current, member.metadata.classic
    return PackedMember(
        member.member_id,
        metadata.group_instance_id,
        metadata.rack_id,
        texts[metadata.client_id],
        texts[metadata.client_host],
        subscriptions[(metadata.topic_names, metadata.topic_regex, metadata.server_assignor)],
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


def _packed_partitions(held: OwnedPartitions, texts: Texts) -> PackedPartitions:
    return [
        (texts[topic_id], list(partitions), _packed_epochs(partitions.values()))
        for topic_id, partitions in held.items()
    ]


def _packed_epochs(epochs: Iterable[int]) -> int | list[int]:
    each = list(epochs)
    return each[0] if each and each.count(each[0]) == len(each) else each


def _packed_target(target: Assignment, texts: Texts) -> PackedTarget:
    return [(texts[topic_id], list(partitions)) for topic_id, partitions in target.items()]


class _KindPlaces(dict[TimerKind, int]):
    """Where the beginnings of the keys of timers are."""

    def __init__(self, texts: dict[str, int]) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, kind: TimerKind) -> int:
        place = self[kind] = self._texts[BEGINNINGS[kind]]
        return place


def _packed_timers(
    membership: ConsumerGroup, texts: dict[str, int], places: dict[str, int], clock_ms: int
) -> list[PackedTimer]:
    kinds = _KindPlaces(texts)
    return [
        (
            kinds[key.kind],
            places.get(key.member_id, key.member_id),
            clock_ms - timer.armed_ms,
            timer.due_ms - timer.armed_ms,
        )
        for key, timer in membership.timers.items()
    ]
