"""Kafka's range assignor: each topic is divided into ranges, one for each subscriber.

Members are in the order of their instance ids, then members without instance id in the order of their member ids. The first
members get the partitions that remain after division. Earlier assignments have no influence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    SubscriptionType,
    TopicSpec,
    subscribers,
)
from group_coordinator.core.kafka_order import (
    hash_map_order,
    table_size_for,
    topic_spot,
    utf16_order,
)


def assign_ranges(
    members: Mapping[str, MemberSpec],
    topics: Mapping[str, TopicSpec],
    subscription_type: SubscriptionType | None = None,
    /,
) -> dict[str, Assignment]:
    """RangeAssignor of Kafka 4.4; see `Assignor`."""
    if not members:
        return {}
    member_ids = sorted(
        members, key=lambda member_id: seniority(member_id, members[member_id].group_instance_id)
    )
    wishes = [members[member_id].topic_ids for member_id in member_ids]
    if subscription_type is SubscriptionType.HOMOGENEOUS:
        # Kafka reads the first member's subscription only, even if the others differ by now.
        wishes = wishes[:1] * len(wishes)
    assigned = dict(zip(member_ids, _assigned(wishes, topics), strict=True))
    return {member_id: assigned[member_id] for member_id in members}


def _assigned(
    wishes: Sequence[frozenset[str]], topics: Mapping[str, TopicSpec]
) -> list[Assignment]:
    # Results are by position of the member; each has its topics in the order of Kafka's record.
    positions = subscribers(wishes, topics)
    # Members with equally many topics have tables of equal size, and so the same order of topics.
    table_size, *others = {_table_size(count) for count in set(map(len, wishes))}
    if others:
        assignments = _cut(positions, topics, len(wishes))
        return [
            _in_order_of_record(assignment, len(wish))
            for assignment, wish in zip(assignments, wishes, strict=True)
        ]
    # All members have the same order: it is computed once.
    order = hash_map_order(positions, topic_spot, table_size)
    return _cut({topic_id: positions[topic_id] for topic_id in order}, topics, len(wishes))


def _cut(
    positions: Mapping[str, Sequence[int]], topics: Mapping[str, TopicSpec], number_of_members: int
) -> list[Assignment]:
    assignments: list[Assignment] = [{} for _ in range(number_of_members)]
    # Many topics have equal numbers of partitions and subscribers: their ranges are computed once.
    known: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for topic_id, subscribed in positions.items():
        shape = topics[topic_id].num_partitions, len(subscribed)
        if shape not in known:
            known[shape] = [tuple(partitions) for partitions in ranges(*shape)]
        for position, partitions in zip(subscribed, known[shape], strict=False):
            assignments[position][topic_id] = partitions
    return assignments


def ranges(num_partitions: int, num_members: int) -> Iterator[range]:
    """Yield a range for each member. The first members get the remaining partitions, the last members may get none."""
    # With fewer partitions than members, only the first members get one each.
    quota, over = divmod(num_partitions, num_members)
    end = 0
    for place in range(num_members if quota else over):
        start, end = end, end + quota + (place < over)
        yield range(start, end)


def seniority(member_id: str, group_instance_id: str | None) -> tuple[bool, bytes]:
    """Return the sort key of members in brokers' and clients' range assignors: static members first, by instance id."""
    name = member_id if group_instance_id is None else group_instance_id
    return group_instance_id is None, utf16_order(name)


def _in_order_of_record(assignment: Assignment, number_of_topics: int) -> Assignment:
    order = hash_map_order(assignment, topic_spot, _table_size(number_of_topics))
    return {topic_id: assignment[topic_id] for topic_id in order}


def _table_size(number_of_topics: int) -> int:
    # Kafka makes a HashMap for this number of entries: the load factor is 0.75.
    return table_size_for(int(number_of_topics / 0.75 + 1))
