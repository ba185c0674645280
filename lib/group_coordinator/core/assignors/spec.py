"""The input and the result of an assignor, the subscription type of a group, and a draft of an assignment in Kafka's order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Protocol, TypeAlias

from group_coordinator.core.kafka_order import (
    DEFAULT_TABLE_SIZE,
    grown_table_size,
    hash_map_order,
    table_size_for,
    topic_spot,
)
from group_coordinator.core.value import Value

Assignment: TypeAlias = dict[str, tuple[int, ...]]
"""Partitions by topic id (Kafka's 22 characters): ascending, no empty tuples."""


NO_PARTITIONS: Assignment = {}


class MemberSpec(Value, frozen=True):
    """The assignor's view of a member. `assignment` is its present target."""

    rack_id: str | None
    group_instance_id: str | None
    topic_ids: frozenset[str]
    assignment: Assignment
    given_up: Assignment = NO_PARTITIONS
    """The member's earlier target, if it took the place of another member and its target: no member gets it this time."""


class TopicSpec(Value, frozen=True):
    """The assignor's view of a topic. `racks` has the racks of each partition's replicas; None if they are unknown."""

    num_partitions: int
    racks: tuple[frozenset[str], ...] | None


class SubscriptionType(Enum):
    """Equal or different subscriptions of all members. Kafka compares names and regexes, with unknown topics (subscriptions.py)."""

    HOMOGENEOUS = "homogeneous"
    HETEROGENEOUS = "heterogeneous"


class Assignor(Protocol):
    def __call__(
        self,
        members: Mapping[str, MemberSpec],
        topics: Mapping[str, TopicSpec],
        subscription_type: SubscriptionType | None = None,
        /,
    ) -> dict[str, Assignment]:
        """Assign all partitions: (members by id, topics by id) -> assignment by member id. Every member has an entry.

        Kafka's hash tables decide some orders; here the orders of both mappings and of the topics in an assignment do. Callers
        pass the members in `member_order`, the topics in the `subscribed_order` of the first member, and an assignment in the
        order of its record. The result is in the order of Kafka's records again. Without a subscription type, the members'
        topic ids decide. Raises PartitionAssignorError.
        """


class PartitionAssignorError(Exception):
    """No assignment is possible: a member subscribes to an unknown topic, or holds partitions beyond its topic's end."""


def subscription_type(
    number_of_members: int,
    topic_subscribers: Mapping[str, int],
    regex_subscribers: Mapping[str, int],
    found: Iterable[Collection[str]],
) -> SubscriptionType:
    """Return Kafka's subscription type for these numbers of subscribers by topic name (also unknown names) and by regex.

    `found` has the matched topics of each resolved regex, also of a regex without subscribers. If such a topic is also subscribed
    in another way, the members count as different (ConsumerGroup.subscriptionType).
    """
    matches = Counter(name for names in found for name in names)
    # With a regex all members must have that regex and no names, and each topic is matched once.
    if regex_subscribers:
        is_one_regex = set(regex_subscribers.values()) == {number_of_members}
        finds_all = not topic_subscribers and all(number == 1 for number in matches.values())
        is_homogeneous = is_one_regex and finds_all
    else:
        names = topic_subscribers.keys() | matches.keys()
        is_homogeneous = all(topic_subscribers.get(name) == number_of_members for name in names)
    return SubscriptionType.HOMOGENEOUS if is_homogeneous else SubscriptionType.HETEROGENEOUS


def type_by_topic_ids(members: Iterable[MemberSpec]) -> SubscriptionType:
    """Return the subscription type by topic ids alone."""
    distinct = {member.topic_ids for member in members}
    return SubscriptionType.HOMOGENEOUS if len(distinct) <= 1 else SubscriptionType.HETEROGENEOUS


def subscribers(
    wishes: Iterable[frozenset[str]], topics: Mapping[str, TopicSpec]
) -> dict[str, Sequence[int]]:
    """Return the positions of the members that subscribe to a topic, ascending, by topic id in the order of `topics`.

    Topics with the same subscribers share one sequence. Raises PartitionAssignorError if a topic does not exist.
    """
    # Equal subscriptions are grouped: thousands of members usually have few different ones.
    positions = defaultdict[frozenset[str], list[int]](list)
    for position, topic_ids in enumerate(wishes):
        positions[topic_ids].append(position)
    subscriptions = defaultdict[str, list[frozenset[str]]](list)
    for topic_ids in positions:
        check_topics(topic_ids, topics)
        for topic_id in topic_ids:
            subscriptions[topic_id].append(topic_ids)
    merged: dict[tuple[int, ...], Sequence[int]] = {}
    found: dict[str, Sequence[int]] = {}
    for topic_id in topics:
        if topic_id in subscriptions:
            parts = [positions[topic_ids] for topic_ids in subscriptions[topic_id]]
            # The first positions identify the groups of members, and are cheaper to hash than all.
            key = tuple(part[0] for part in parts)
            if key not in merged:
                merged[key] = sorted(position for part in parts for position in part)
            found[topic_id] = merged[key]
    return found


def check_topics(topic_ids: frozenset[str], topics: Mapping[str, TopicSpec]) -> None:
    """Raise PartitionAssignorError if a topic does not exist."""
    missing = topic_ids - topics.keys()
    if missing:
        raise PartitionAssignorError(f"no such topic: {min(missing)}")


class Draft:
    """A copy of a member's assignment for additions and removals, in the order of Kafka's HashMap copy.

    An added topic is first in its bucket (HashMap.computeIfAbsent), before the copied topics. The dict has the reverse order,
    because a new key of a dict is last.
    """

    def __init__(self, old: Assignment) -> None:
        # The copy is read in Kafka's order, and the dict is the reverse of it.
        copied = reversed(kept_order(old))
        self._partitions = {topic_id: set(old[topic_id]) for topic_id in copied}
        # The table of Kafka's copy has a size that follows from the number of keys.
        self._table_size = grown_table_size(table_size_for(len(old)), len(old))

    def topics(self) -> list[str]:
        """Return the topics with partitions, in Kafka's order."""
        return list(reversed(self._partitions))

    def add(self, topic_id: str, partition: int) -> None:
        # computeIfAbsent lets the table grow before it looks for the topic: at the next partition, not the next topic.
        self._table_size = grown_table_size(self._table_size, len(self._partitions))
        self._partitions.setdefault(topic_id, set()).add(partition)

    def remove(self, topic_id: str, partition: int) -> None:
        held = self._partitions[topic_id]
        held.remove(partition)
        if not held:
            del self._partitions[topic_id]

    def remove_topic(self, topic_id: str) -> None:
        del self._partitions[topic_id]

    def assignment(self) -> Assignment:
        """Return the present assignment, its topics in the order of Kafka's record."""
        order = hash_map_order(self.topics(), topic_spot, self._table_size)
        return {topic_id: tuple(sorted(self._partitions[topic_id])) for topic_id in order}


def kept(assignment: Assignment) -> Assignment:
    """Return an unchanged assignment in the order of the record that a new owner of it gets."""
    if len(assignment) <= 1:
        return assignment
    return {topic_id: assignment[topic_id] for topic_id in kept_order(assignment)}


def kept_order(assignment: Assignment) -> list[str]:
    """Return the topics of an assignment in the order that Kafka has in memory after reading its record."""
    table_size = grown_table_size(DEFAULT_TABLE_SIZE, len(assignment))
    return hash_map_order(assignment, topic_spot, table_size)
