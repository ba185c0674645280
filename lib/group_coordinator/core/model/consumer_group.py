"""The membership of a consumer group (KIP-848). Data and questions only: handlers decide, replay changes.

A snapshot names a subscription by its digest, so that a member is written the same whatever the others want.

What the log says comes first and changes by replay alone, so that the log rebuilds it. What Kafka keeps beside its log
(timers, until when the metadata hash counts) follows; the last fields are looked up often and follow from the members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Raw, Struct, msgpack

from group_coordinator.core.assignors.spec import SubscriptionType, subscription_type
from group_coordinator.core.model.consumer_member import (
    Assignment,
    ClassicMetadata,
    ConsumerMember,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.model.member_index import add_to_counts
from group_coordinator.core.model.states import ConsumerState
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timers

NeighbourOwners: TypeAlias = dict[int, str]
"""Member ids by partition, of neighbouring partitions of a topic."""

_NEIGHBOURS = 256


@dataclass(slots=True)
class Owners:
    """A member owns what it is assigned, and what it has yet to give back."""

    by_neighbours: StoredValues[NeighbourOwners, Raw] = field(default_factory=StoredValues)
    """By partition // 256 and topic id as one text; none is empty."""

    def owner_of(self, topic_id: str, partition: int) -> str | None:
        """The member that has the partition, or has yet to give it back."""
        neighbours = self.by_neighbours.get(f"{partition // _NEIGHBOURS}:{topic_id}")
        return None if neighbours is None else neighbours.get(partition)

    def give(self, topic_id: str, partitions: Iterable[int], member_id: str) -> None:
        """Name the owner of partitions, whoever it was before."""
        for key, given in _by_neighbours(topic_id, partitions).items():
            owners = self.by_neighbours.get(key, {})
            self.by_neighbours[key] = {**owners, **dict.fromkeys(given, member_id)}

    def take(self, topic_id: str, partitions: Iterable[int], member_id: str) -> None:
        """Partitions that are this member's have no owner any more.

        In a compacted log another member may have got one already: it keeps it.
        """
        for key, taken in _by_neighbours(topic_id, partitions).items():
            owners = self.by_neighbours.get(key, {})
            gone = {partition for partition in taken if owners.get(partition) == member_id}
            left = {number: owner for number, owner in owners.items() if number not in gone}
            if left:
                self.by_neighbours[key] = left
            else:
                self.by_neighbours.pop(key, None)

    def __bool__(self) -> bool:
        return bool(self.by_neighbours)


def _by_neighbours(topic_id: str, partitions: Iterable[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for partition in partitions:
        found.setdefault(f"{partition // _NEIGHBOURS}:{topic_id}", []).append(partition)
    return found


_DIGEST_BYTES = 16


class SharedSubscription(Struct, array_like=True):
    """A subscription, and how many members have it."""

    topic_names: tuple[str, ...]
    topic_regex: str | None
    server_assignor: str | None
    subscribers: int = 0


@dataclass(slots=True)
class SharedSubscriptions:
    """The subscriptions of all members."""

    by_digest: dict[bytes, SharedSubscription] = field(default_factory=dict)

    def add(self, metadata: SubscriptionMetadata) -> None:
        """A member has this subscription from now on."""
        digest = digest_of(metadata)
        shared = self.by_digest.get(digest)
        if shared is None:
            shared = self.by_digest[digest] = SharedSubscription(
                metadata.topic_names, metadata.topic_regex, metadata.server_assignor
            )
        shared.subscribers += 1

    def remove(self, metadata: SubscriptionMetadata) -> None:
        """A member that had this subscription has it no more."""
        digest = digest_of(metadata)
        shared = self.by_digest[digest]
        shared.subscribers -= 1
        if not shared.subscribers:
            del self.by_digest[digest]

    def __iter__(self) -> Iterator[SharedSubscription]:
        return iter(self.by_digest.values())


def digest_of(metadata: SubscriptionMetadata) -> bytes:
    """By what a snapshot names the subscription."""
    wanted = (metadata.topic_names, metadata.topic_regex, metadata.server_assignor)
    return blake2b(msgpack.encode(wanted), digest_size=_DIGEST_BYTES).digest()


_FIRST_EPOCH = 1


@dataclass(slots=True)
class ConsumerGroup:
    """Membership under the consumer protocol (ConsumerGroup in Kafka)."""

    epoch: int = _FIRST_EPOCH
    metadata_hash: int = 0
    """Of the subscribed topics that existed when the epoch was set (core/topics/hash.py)."""
    assignment_epoch: int = _FIRST_EPOCH
    """The group epoch that `targets` were computed for; less than `epoch`: new ones are due."""
    assignment_timestamp_ms: int = 0
    members: StoredValues[ConsumerMember, Raw] = field(default_factory=StoredValues)
    """Only put and remove change them."""
    targets: StoredValues[Assignment, Raw] = field(default_factory=StoredValues)
    """The target assignments by member id."""
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    """What subscribed patterns matched; one that is not resolved yet is missing."""

    timers: Timers = field(default_factory=Timers)
    rebalance_epochs: dict[str, int] = field(default_factory=dict)
    """The member epoch for which a member's rebalance timer was set, by member id; at another one it has no effect."""
    metadata_deadline_ms: int = 0
    """From then on a heartbeat compares the hash of the subscribed topics; 0: the next one does."""

    static_members: dict[str, str] = field(default_factory=dict)
    """Member ids by group instance id."""
    owners: Owners = field(default_factory=Owners)
    subscriptions: SharedSubscriptions = field(default_factory=SharedSubscriptions)
    topic_subscribers: dict[str, int] = field(default_factory=dict)
    """How many members subscribe to a topic by name."""
    regex_subscribers: dict[str, int] = field(default_factory=dict)
    """How many members subscribe by a regular expression."""
    classic_member_count: int = 0
    """How many members speak the classic protocol."""
    classic_protocols: dict[str, int] = field(default_factory=dict)
    """How often they list a protocol, by its name: one that a member lists twice counts twice, as in Kafka."""
    assignor_votes: dict[str | None, int] = field(default_factory=dict)
    """How many members ask for an assignor; None: for none."""

    member_room: int = 0
    """For how many members Kafka's table of them has made room; it never shrinks, and who is found first depends on it.

    It looks for room before it looks for the key: for one more than there are. A compacted log does not tell it, here as in Kafka.
    """
    former_subscription_type: SubscriptionType | None = None
    """The type before the last record of a regular expression: Kafka keeps it until a record of a member follows."""

    @property
    def state(self) -> ConsumerState:
        """The state that Kafka shows; it follows from members and epochs."""
        if not self.members:
            return ConsumerState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerState.ASSIGNING
        if all(m.is_reconciled_to(self.assignment_epoch) for m in self.members.values()):
            return ConsumerState.STABLE
        return ConsumerState.RECONCILING

    @property
    def subscription_type(self) -> SubscriptionType:
        """Whether the members count as subscribed to the same topics."""
        return self.former_subscription_type or subscription_type(
            len(self.members),
            self.topic_subscribers,
            self.regex_subscribers,
            [regex.topics for regex in self.regexes.values()],
        )

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member subscribes to the topic, by name or by a resolved regular expression."""
        return topic in self.topic_subscribers or any(
            topic in regex.topics for regex in self.regexes.values()
        )

    def subscribed_topics(self) -> frozenset[str]:
        """The topics that members subscribe to, by name or by a resolved regular expression."""
        matched = (regex.topics for regex in self.regexes.values())
        return frozenset(self.topic_subscribers).union(*matched)

    def static_member(self, group_instance_id: str) -> ConsumerMember | None:
        """The member that has the instance id."""
        return self.members.get(self.static_members.get(group_instance_id, ""))

    def target_of(self, member_id: str) -> Assignment:
        """The member's target assignment; empty if none was computed."""
        return self.targets.get(member_id, {})

    def owner_of(self, topic_id: str, partition: int) -> str | None:
        """The member that has the partition, or has yet to give it back."""
        return self.owners.owner_of(topic_id, partition)

    def put(self, member: ConsumerMember) -> None:
        """Store a member in place of the one with its id; for replay alone."""
        old = self.members.get(member.member_id)
        self.member_room = max(self.member_room, len(self.members) + 1)
        self.members[member.member_id] = member
        self.former_subscription_type = None
        if old is None or old.metadata is not member.metadata:
            self._forget_metadata(old)
            self._note_metadata(member)
        if old is None or old.current is not member.current:
            self._forget_partitions(old)
            self._note_partitions(member)

    def count_subscribers(self) -> None:
        """Find out from the subscriptions who wants what, as put does one by one; for snapshots."""
        for shared in self.subscriptions:
            self._count_wishes(shared, shared.subscribers)

    def remove(self, member_id: str) -> None:
        """Forget a member, if it is known; for replay alone."""
        old = self.members.pop(member_id, None)
        if old is None:
            return
        self.former_subscription_type = None
        self._forget_metadata(old)
        self._forget_partitions(old)

    def put_regex(self, regex: str, resolved: ResolvedRegex | None) -> None:
        """Store what a regular expression matched, or that it is not resolved any more; for replay alone."""
        if resolved is not None:
            self.former_subscription_type = self.subscription_type
            self.regexes[regex] = resolved
        elif regex in self.regexes:
            self.former_subscription_type = self.subscription_type
            del self.regexes[regex]

    def _note_metadata(self, member: ConsumerMember) -> None:
        metadata = member.metadata
        if metadata.group_instance_id is not None:
            self.static_members[metadata.group_instance_id] = member.member_id
        self.subscriptions.add(metadata)
        self._count_wishes(metadata, 1)
        self._count_classic(metadata.classic, 1)

    def _forget_metadata(self, member: ConsumerMember | None) -> None:
        if member is None:
            return
        metadata = member.metadata
        if metadata.group_instance_id is not None:
            self.static_members.pop(metadata.group_instance_id, None)
        self.subscriptions.remove(metadata)
        self._count_wishes(metadata, -1)
        self._count_classic(metadata.classic, -1)

    def _count_classic(self, classic: ClassicMetadata | None, change: int) -> None:
        if classic is not None:
            self.classic_member_count += change
            names = [protocol.name for protocol in classic.protocols]
            add_to_counts(self.classic_protocols, names, change)

    def _count_wishes(self, wishes: SubscriptionMetadata | SharedSubscription, change: int) -> None:
        add_to_counts(self.topic_subscribers, wishes.topic_names, change)
        if wishes.topic_regex:
            add_to_counts(self.regex_subscribers, (wishes.topic_regex,), change)
        add_to_counts(self.assignor_votes, (wishes.server_assignor,), change)

    def _note_partitions(self, member: ConsumerMember) -> None:
        for held in (member.current.assigned, member.current.pending_revocation):
            for topic_id, partitions in held.items():
                self.owners.give(topic_id, partitions, member.member_id)

    def _forget_partitions(self, member: ConsumerMember | None) -> None:
        if member is None:
            return
        for held in (member.current.assigned, member.current.pending_revocation):
            for topic_id, partitions in held.items():
                self.owners.take(topic_id, partitions, member.member_id)
