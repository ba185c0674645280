"""What the members of a consumer group were packed as the last time, by which consumer_packing.py packs only what changed.

It comes from packing them, or from the very bytes that they were read from: then not even the first snapshot after that
has to pack all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import Raw, Struct, msgpack

from group_coordinator.codecs.snapshots.consumer import PackedConsumerGroup, PackedMember
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import Assignment, ConsumerMember

Item = TypeVar("Item")
Subscription: TypeAlias = tuple[tuple[str, ...], str | None, str | None]
"""Topic names, regular expression, server assignor."""


class Places(dict[Item, int]):
    """The places of things in a list in which everything is once: what is asked for is put behind the others."""

    def __missing__(self, item: Item) -> int:
        place = self[item] = len(self)
        return place


class PackedAs(NamedTuple):
    """A member as it was packed, and how long the lists of texts and of subscriptions were then."""

    member: ConsumerMember
    target: Assignment | None
    encoded: Raw
    texts: int
    subscriptions: int


@dataclass(slots=True)
class PackedMembers:
    """All members as they were packed; ConsumerGroup keeps it."""

    texts: Places[str] = field(default_factory=Places)
    subscriptions: Places[Subscription] = field(default_factory=Places)
    members: list[PackedAs] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    """Of members, by their ids."""


class _MembersAsWritten(Struct, array_like=True, tag="consumer", gc=False):
    """A PackedConsumerGroup up to its members."""

    epoch: Raw
    metadata_hash: Raw
    assignment_epoch: Raw
    assignment_timestamp_ms: Raw
    texts: Raw
    subscriptions: Raw
    members: list[Raw]


class _SnapshotAsWritten(Struct, array_like=True, gc=False):
    """A snapshot up to its membership."""

    version: Raw
    membership: _MembersAsWritten


_decode = msgpack.Decoder(_SnapshotAsWritten).decode


def remember(membership: ConsumerGroup, packed: PackedConsumerGroup, blob: bytes) -> None:
    """Keep with a membership that has just been read from a snapshot how its members, at least one, are packed there."""
    encoded = _decode(blob).membership.members
    texts, subscriptions = _lengths(packed.members)
    targets = map(membership.targets.get, membership.members)
    membership.memo = PackedMembers(
        Places(zip(packed.texts[: texts[-1]], count())),
        Places(zip(packed.subscriptions[: subscriptions[-1]], count())),
        list(map(PackedAs, membership.members.values(), targets, encoded, texts, subscriptions)),
        dict(zip(membership.members, count())),
    )


def _lengths(members: Iterable[PackedMember]) -> tuple[list[int], list[int]]:
    """How long the lists of texts and of subscriptions are behind each member."""
    texts, subscriptions = [], []
    last_text = last_subscription = -1
    for member in members:
        last_text = max(last_text, member.client_id)
        last_text = max(last_text, member.client_host)
        for topic, _, _ in member.assigned:
            last_text = max(last_text, topic)
        for topic, _, _ in member.pending_revocation:
            last_text = max(last_text, topic)
        for topic, _ in member.target or ():
            last_text = max(last_text, topic)
        last_subscription = max(last_subscription, member.subscription)
        texts.append(last_text + 1)
        subscriptions.append(last_subscription + 1)
    return texts, subscriptions
