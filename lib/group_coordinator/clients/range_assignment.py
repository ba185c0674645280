"""Kafka's range assignor: each topic is cut into ranges, one for each member that wants the topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

Assignment = dict[str, list[int]]
"""Partitions by topic."""


def range_assignment(
    subscriptions: Mapping[str, Collection[str]], partition_counts: Mapping[str, int]
) -> dict[str, Assignment]:
    """The partitions of each member; members are in order of their ids, and the first ones get one more.

    Args:
        subscriptions: the topics of each member.
        partition_counts: how many partitions a topic has; a topic that is not there is not assigned.
    """
    assignments: dict[str, Assignment] = {member: {} for member in subscriptions}
    for topic, members in _members_by_topic(subscriptions).items():
        share, extra = divmod(partition_counts.get(topic, 0), len(members))
        start = 0
        for position, member in enumerate(members):
            size = share + (position < extra)
            if size:
                assignments[member][topic] = list(range(start, start + size))
            start += size
    return assignments


def _members_by_topic(subscriptions: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    members = defaultdict(list)
    for member in sorted(subscriptions):
        for topic in sorted(set(subscriptions[member])):
            members[topic].append(member)
    return members
