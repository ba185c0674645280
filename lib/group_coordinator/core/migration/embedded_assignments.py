"""Conversion between classic members' bytes, which have topic names, and consumer groups, which have topic ids.

Stories: stories/migration/upgrading.py, stories/migration/classic_members.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.embedded_protocol import (
    MalformedProtocolError,
    NamedPartitions,
    encode_assignment,
    read_version,
)
from group_coordinator.core.kafka_order.java_tables import (
    DEFAULT_TABLE_SIZE,
    grown_table_size,
    hash_map_order,
    partition_set_order,
    topic_spot,
)
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.requests import TopicPartitions
from group_coordinator.core.model.topic import Topic


def by_topic_id(partitions: NamedPartitions, topics: Mapping[str, Topic]) -> Assignment:
    """Return the partitions by topic id. Topics that do not exist are left out."""
    found: dict[str, set[int]] = {}
    for name, numbers in partitions:
        # A topic that was deleted has no id here.
        if name in topics and numbers:
            found.setdefault(topics[name].topic_id, set()).update(numbers)
    return {topic_id: tuple(sorted(numbers)) for topic_id, numbers in sorted(found.items())}


def reported(
    partitions: NamedPartitions, topics: Mapping[str, Topic]
) -> tuple[TopicPartitions, ...]:
    """Return a member's reported partitions in the form of a heartbeat."""
    assigned = by_topic_id(partitions, topics)
    return tuple(TopicPartitions(None, topic_id, numbers) for topic_id, numbers in assigned.items())


def embedded_assignment(
    assignment: Mapping[str, tuple[int, ...]], topics: Mapping[str, Topic], protocol: Protocol
) -> bytes:
    """Return a classic member's assignment as bytes, in the member's version and Kafka's order, without deleted topics.

    An unreadable version counts as 0. In Kafka the last consumer could not leave then.
    """
    names = {topic.topic_id: topic.name for topic in topics.values()}
    # Kafka's order is that of its hash map, and the bytes must be equal.
    size = grown_table_size(DEFAULT_TABLE_SIZE, len(assignment))
    topic_ids = hash_map_order(sorted(assignment), topic_spot, size)
    named = {
        names[topic_id]: partition_set_order(assignment[topic_id])
        for topic_id in topic_ids
        if topic_id in names
    }
    try:
        version = read_version(protocol.metadata)
    except MalformedProtocolError:
        version = 0
    return encode_assignment(named, version)
