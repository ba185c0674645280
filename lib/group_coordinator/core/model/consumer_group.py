"""The membership of a consumer group (KIP-848): data and queries. Handlers decide, replay changes it.

The first fields are the content of the log: only replay changes them, so the log rebuilds them. Next are the fields that Kafka
keeps in memory only. The last fields are indexes over the members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Raw, Struct, msgpack

from group_coordinator.core.assignors.spec import Assignment, SubscriptionType, subscription_type
from group_coordinator.core.model.classic_member import ConsumerState
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    ResolvedRegex,
    SubscriptionMetadata,
    add_to_counts,
)
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timers

NeighbourOwners: TypeAlias = dict[int, str]
"""Member ids by partition, for neighbouring partitions of a topic."""

# A group state is read and written in parts: a part for each partition would be too many, a single part too long.
_NEIGHBOURS = 256


@dataclass(slots=True)
class Owners:
    """The owners of partitions. A member owns its assigned partitions and those that it has yet to revoke."""

    by_neighbours: StoredValues[NeighbourOwners, Raw] = field(default_factory=StoredValues)
    """The owners by one text, partition // 256 and topic id. No entry is empty."""

    def owner_of(self, topic_id: str, partition: int) -> str | None:
        """Return the member that owns the partition or has yet to revoke it."""
        neighbours = self.by_neighbours.get(f"{partition // _NEIGHBOURS}:{topic_id}")
        return None if neighbours is None else neighbours.get(partition)

    def give(self, topic_id: str, partitions: Iterable[int], member_id: str) -> None:
        """Set the owner of partitions; it replaces an earlier owner."""
        for key, given in _by_neighbours(topic_id, partitions).items():
            owners = self.by_neighbours.get(key, {})
            self.by_neighbours[key] = {**owners, **dict.fromkeys(given, member_id)}

    def take(self, topic_id: str, partitions: Iterable[int], member_id: str) -> None:
        """Remove this member as the owner of partitions."""
        for key, taken in _by_neighbours(topic_id, partitions).items():
            owners = self.by_neighbours.get(key, {})
            # In a cleaned log the record of the next owner may come before the record that takes the partition away.
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
    """A subscription and the number of its members."""

    topic_names: tuple[str, ...]
    topic_regex: str | None
    server_assignor: str | None
    subscribers: int = 0


@dataclass(slots=True)
class SharedSubscriptions:
    by_digest: dict[bytes, SharedSubscription] = field(default_factory=dict)

    def add(self, metadata: SubscriptionMetadata) -> None:
        digest = digest_of(metadata)
        shared = self.by_digest.get(digest)
        if shared is None:
            shared = self.by_digest[digest] = SharedSubscription(
                metadata.topic_names, metadata.topic_regex, metadata.server_assignor
            )
        shared.subscribers += 1

    def remove(self, metadata: SubscriptionMetadata) -> None:
        digest = digest_of(metadata)
        shared = self.by_digest[digest]
        shared.subscribers -= 1
        if not shared.subscribers:
            del self.by_digest[digest]

    def __iter__(self) -> Iterator[SharedSubscription]:
        return iter(self.by_digest.values())


def digest_of(metadata: SubscriptionMetadata) -> bytes:
    """Return the name of a subscription in group states. So the bytes of a member do not depend on others' subscriptions."""
    # Equal subscriptions are stored once: thousands of members may name the same thousand topics.
    wanted = (metadata.topic_names, metadata.topic_regex, metadata.server_assignor)
    return blake2b(msgpack.encode(wanted), digest_size=_DIGEST_BYTES).digest()


_FIRST_EPOCH = 1


@dataclass(slots=True, kw_only=True)
class ConsumerGroup:
    """A membership of the consumer protocol (ConsumerGroup in Kafka)."""

    epoch: int = _FIRST_EPOCH
    metadata_hash: int = 0
    """The hash of the subscribed topics that existed when the epoch was set (core/topics.py)."""
    assignment_epoch: int = _FIRST_EPOCH
    """The group epoch of `targets`. If it is less than `epoch`, new targets are due."""
    assignment_timestamp_ms: int = 0
    members: StoredValues[ConsumerMember, Raw] = field(default_factory=StoredValues)
    """The members by id. Only put and remove may change them."""
    targets: StoredValues[Assignment, Raw] = field(default_factory=StoredValues)
    """The target assignments by member id."""
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    """The matched topics of each resolved regular expression. Unresolved expressions are missing."""

    timers: Timers = field(default_factory=Timers)
    rebalance_epochs: dict[str, int] = field(default_factory=dict)
    """The member epoch of each rebalance timer, by member id. The timer has no effect at another epoch."""
    metadata_deadline_ms: int = 0
    """The time from which on a heartbeat compares the hash of the subscribed topics; 0: the next heartbeat does."""

    static_members: dict[str, str] = field(default_factory=dict)
    """Member ids by group instance id."""
    owners: Owners = field(default_factory=Owners)
    subscriptions: SharedSubscriptions = field(default_factory=SharedSubscriptions)
    topic_subscribers: dict[str, int] = field(default_factory=dict)
    """The number of members that subscribe to a topic by name."""
    regex_subscribers: dict[str, int] = field(default_factory=dict)
    """The number of members that subscribe by a regular expression."""
    classic_member_count: int = 0
    """The number of members of the classic protocol."""
    classic_protocols: dict[str, int] = field(default_factory=dict)
    """The number of listings of a protocol by its name. As in Kafka, a protocol that a member lists twice counts twice."""
    assignor_votes: dict[str | None, int] = field(default_factory=dict)
    """The number of members that request an assignor; None: no assignor."""

    member_room: int = 0
    """The number of members for which Kafka's table has grown. It never shrinks, and it decides the order of members.

    Kafka's table grows before it looks for the key: for the present members and one more. A compacted log does not have the
    number, here as in Kafka.
    """
    former_subscription_type: SubscriptionType | None = None
    """The type before the last record of a regular expression. Kafka keeps it until the next record of a member."""

    @property
    def state(self) -> ConsumerState:
        """The state that Kafka shows. Members and epochs determine it."""
        if not self.members:
            return ConsumerState.EMPTY
        # As in Kafka, a group without targets of this epoch is Assigning, whatever its members.
        if self.epoch > self.assignment_epoch:
            return ConsumerState.ASSIGNING
        if all(m.is_reconciled_to(self.assignment_epoch) for m in self.members.values()):
            return ConsumerState.STABLE
        return ConsumerState.RECONCILING

    @property
    def subscription_type(self) -> SubscriptionType:
        return self.former_subscription_type or subscription_type(
            len(self.members),
            self.topic_subscribers,
            self.regex_subscribers,
            [regex.topics for regex in self.regexes.values()],
        )

    def is_subscribed_to(self, topic: str) -> bool:
        """Return True if a member subscribes to the topic, by name or by a resolved regular expression."""
        return topic in self.topic_subscribers or any(
            topic in regex.topics for regex in self.regexes.values()
        )

    def subscribed_topics(self) -> frozenset[str]:
        """Return the topics that members subscribe to, by name or by a resolved regular expression."""
        matched = (regex.topics for regex in self.regexes.values())
        return frozenset(self.topic_subscribers).union(*matched)

    def static_member_id(self, group_instance_id: str | None) -> str | None:
        """Return the id of the member with an instance id. An empty instance id is one, None is not."""
        return None if group_instance_id is None else self.static_members.get(group_instance_id)

    def static_member(self, group_instance_id: str) -> ConsumerMember | None:
        return self.members.get(self.static_members.get(group_instance_id, ""))

    def target_of(self, member_id: str) -> Assignment:
        """Return the member's target assignment; empty if none was computed."""
        return self.targets.get(member_id, {})

    def owner_of(self, topic_id: str, partition: int) -> str | None:
        return self.owners.owner_of(topic_id, partition)

    def put(self, member: ConsumerMember) -> None:
        """Store a member; it replaces the member with its id. Only replay may call it."""
        old = self.members.get(member.member_id)
        # Kafka's table makes room before it finds the key, so a replacement counts too.
        self.member_room = max(self.member_room, len(self.members) + 1)
        self.members[member.member_id] = member
        self.former_subscription_type = None
        # By identity: comparing thousands of names takes longer than indexing them.
        if old is None or old.metadata is not member.metadata:
            self._forget_metadata(old)
            self._note_metadata(member)
        if old is None or old.current is not member.current:
            self._forget_partitions(old)
            self._note_partitions(member)

    def count_subscribers(self) -> None:
        """Fill the indexes of subscribers after a group state was read. `put` does it member by member."""
        for shared in self.subscriptions:
            self._count_wishes(shared, shared.subscribers)

    def remove(self, member_id: str) -> None:
        """Remove a member if it exists. Only replay may call it."""
        old = self.members.pop(member_id, None)
        if old is None:
            return
        self.former_subscription_type = None
        self._forget_metadata(old)
        self._forget_partitions(old)

    def put_regex(self, regex: str, resolved: ResolvedRegex | None) -> None:
        """Store the matched topics of a regular expression, or remove it. Only replay may call it."""
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
