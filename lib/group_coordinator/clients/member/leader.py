"""The leader of a classic group: it assigns partitions to all members, with Kafka's range assignor."""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from collections.abc import Collection, Mapping

from group_coordinator.clients.channel.request import Body
from group_coordinator.core.assignors.range import ranges, seniority
from group_coordinator.core.embedded_protocol import encode_assignment, parse_subscription


def is_leader(joined: Body) -> bool:
    """Whether the member that joined must assign partitions to all members."""
    return bool(joined["leader"] == joined["memberId"] and not joined["skipAssignment"])


def assignments(joined: Body, partition_counts: Mapping[str, int]) -> dict[str, bytes]:
    """The assignment of each member in the leader's JoinGroup answer; one whose subscription is unreadable gets nothing."""
    members = sorted(
        joined["members"],
        key=lambda member: seniority(member["memberId"], member.get("groupInstanceId")),
    )
    subscriptions = {
        member["memberId"]: parse_subscription(b64decode(member["metadata"])) or ()
        for member in members
    }
    return {
        member: encode_assignment(partitions)
        for member, partitions in partitions_by_range(subscriptions, partition_counts).items()
    }


def partitions_by_range(
    subscriptions: Mapping[str, Collection[str]], partition_counts: Mapping[str, int]
) -> dict[str, dict[str, list[int]]]:
    """The partitions by topic of each member; the first members get the partitions that are over.

    Args:
        subscriptions: the topics of each member, in the order of the members.
        partition_counts: how many partitions a topic has; other topics are not assigned.
    """
    subscribers = defaultdict[str, list[str]](list)
    for member, topics in subscriptions.items():
        for topic in sorted(set(topics)):
            subscribers[topic].append(member)
    found: dict[str, dict[str, list[int]]] = {member: {} for member in subscriptions}
    for topic, members in subscribers.items():
        numbers = ranges(partition_counts.get(topic, 0), len(members))
        for member, partitions in zip(members, numbers, strict=False):
            found[member][topic] = list(partitions)
    return found
