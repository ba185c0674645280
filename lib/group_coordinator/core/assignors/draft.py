"""A changeable copy of an assignment, with the order of Kafka's hash maps."""

from __future__ import annotations

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.kafka_order.java_tables import (
    DEFAULT_TABLE_SIZE,
    grown_table_size,
    hash_map_order,
    table_size_for,
    topic_spot,
)


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
