"""An assignment while it changes."""

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
    """A copy of a member's assignment to add to and take from; it keeps the order of Kafka's HashMap copy.

    What is added stands at the head of its bucket (HashMap.computeIfAbsent), before what was copied. The dict has them
    the other way around, because a new key of a dict comes last.
    """

    def __init__(self, old: Assignment) -> None:
        copied = reversed(kept_order(old))
        self._partitions = {topic_id: set(old[topic_id]) for topic_id in copied}
        self._table_size = grown_table_size(table_size_for(len(old)), len(old))

    def topics(self) -> list[str]:
        """The topics of which it has partitions, in Kafka's order."""
        return list(reversed(self._partitions))

    def add(self, topic_id: str, partition: int) -> None:
        """Give the member one more partition."""
        # computeIfAbsent lets the table grow before it looks for the topic: at the next partition, not the next topic.
        self._table_size = grown_table_size(self._table_size, len(self._partitions))
        self._partitions.setdefault(topic_id, set()).add(partition)

    def remove(self, topic_id: str, partition: int) -> None:
        """Take a partition from the member."""
        held = self._partitions[topic_id]
        held.remove(partition)
        if not held:
            del self._partitions[topic_id]

    def remove_topic(self, topic_id: str) -> None:
        """Take all partitions of a topic from the member."""
        del self._partitions[topic_id]

    def assignment(self) -> Assignment:
        """What the member has now, topics in the order of Kafka's record."""
        order = hash_map_order(self.topics(), topic_spot, self._table_size)
        return {topic_id: tuple(sorted(self._partitions[topic_id])) for topic_id in order}


def kept(assignment: Assignment) -> Assignment:
    """An assignment that stays as it is, in the order of the record that a new owner of it would get."""
    if len(assignment) <= 1:
        return assignment
    return {topic_id: assignment[topic_id] for topic_id in kept_order(assignment)}


def kept_order(assignment: Assignment) -> list[str]:
    """The topics of an assignment as Kafka has them in memory once it has read the record of it."""
    table_size = grown_table_size(DEFAULT_TABLE_SIZE, len(assignment))
    return hash_map_order(assignment, topic_spot, table_size)
