"""Who wants which topic, and whether all members want the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from group_coordinator.core.assignors.spec import (
    MemberSpec,
    PartitionAssignorError,
    SubscriptionType,
    TopicSpec,
)


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
