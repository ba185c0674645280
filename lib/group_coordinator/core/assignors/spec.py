"""The input and the result of an assignor, and the subscriptions of the members."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Protocol, TypeAlias

from group_coordinator.core.value import Value

Assignment: TypeAlias = dict[str, tuple[int, ...]]
"""Partitions by topic id (Kafka's 22 characters): ascending, no empty tuples."""


NO_PARTITIONS: Assignment = {}


class MemberSpec(Value, frozen=True):
    """A member as an assignor sees it; `assignment` is its present target."""

    rack_id: str | None
    group_instance_id: str | None
    topic_ids: frozenset[str]
    assignment: Assignment
    given_up: Assignment = NO_PARTITIONS
    """The target that it had before it took another member's place, with that one's target: nobody gets it this time."""


class TopicSpec(Value, frozen=True):
    """A topic as an assignor sees it; `racks` has the racks of each partition's replicas, None if they are not known."""

    num_partitions: int
    racks: tuple[frozenset[str], ...] | None


class SubscriptionType(Enum):
    """Whether all members want the same: Kafka compares names and regexes, unknown topics included (subscriptions.py)."""

    HOMOGENEOUS = "homogeneous"
    HETEROGENEOUS = "heterogeneous"


class Assignor(Protocol):
    """Decides who gets which partition."""

    def __call__(
        self,
        members: Mapping[str, MemberSpec],
        topics: Mapping[str, TopicSpec],
        subscription_type: SubscriptionType | None = None,
        /,
    ) -> dict[str, Assignment]:
        """(members by id, topics by id) -> assignment by member id; every member has an entry.

        Where Kafka leaves a choice to its hash tables, the order of both mappings makes it, and that of the topics in
        an assignment: give the members in `member_order`, the topics in the `subscribed_order` of the first member,
        an assignment as its record has it. The answer is in the order of Kafka's records again. Without a
        subscription type the members' topic ids decide. Raises PartitionAssignorError.
        """


class PartitionAssignorError(Exception):
    """There is no assignment: a member wants a topic that is not among the topics, or holds partitions beyond its end."""


def subscription_type(
    number_of_members: int,
    topic_subscribers: Mapping[str, int],
    regex_subscribers: Mapping[str, int],
    found: Iterable[Collection[str]],
) -> SubscriptionType:
    """What Kafka makes of how many members subscribe to each name (unknown ones count as well) and each regex.

    `found`: the topics that each resolved regex matched, those of a regex that nobody subscribes to included; where one
    of them is subscribed to otherwise as well the members count as different (ConsumerGroup.subscriptionType).
    """
    matches = Counter(name for names in found for name in names)
    if regex_subscribers:
        is_one_regex = set(regex_subscribers.values()) == {number_of_members}
        finds_all = not topic_subscribers and all(number == 1 for number in matches.values())
        is_homogeneous = is_one_regex and finds_all
    else:
        names = topic_subscribers.keys() | matches.keys()
        is_homogeneous = all(topic_subscribers.get(name) == number_of_members for name in names)
    return SubscriptionType.HOMOGENEOUS if is_homogeneous else SubscriptionType.HETEROGENEOUS


def type_told_by_topic_ids(members: Iterable[MemberSpec]) -> SubscriptionType:
    """The type by topic ids alone: all members want the same topics, or not."""
    distinct = {member.topic_ids for member in members}
    return SubscriptionType.HOMOGENEOUS if len(distinct) <= 1 else SubscriptionType.HETEROGENEOUS


def subscribers(
    wishes: Iterable[frozenset[str]], topics: Mapping[str, TopicSpec]
) -> dict[str, Sequence[int]]:
    """The positions of the wishes that have a topic, ascending, by topic id in the order of `topics`.

    Topics that the same wishes have share one sequence. Raises PartitionAssignorError if a topic is not there.
    """
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
            key = tuple(part[0] for part in parts)
            if key not in merged:
                merged[key] = sorted(position for part in parts for position in part)
            found[topic_id] = merged[key]
    return found


def check_topics(topic_ids: frozenset[str], topics: Mapping[str, TopicSpec]) -> None:
    """Raise PartitionAssignorError if a topic is not there."""
    missing = topic_ids - topics.keys()
    if missing:
        raise PartitionAssignorError(f"no such topic: {min(missing)}")
