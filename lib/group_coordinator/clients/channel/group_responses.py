"""The responses topic as a client reads it: from now on, and only where its groups' answers are."""

from __future__ import annotations

from collections.abc import Iterator

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from kafka.partitioner.default import murmur2

from group_coordinator.clients.channel_errors import TopicMissingError
from group_coordinator.clients.cluster.connection import Connection


class GroupResponses:
    """Reads the partitions of the groups that were asked about; others stand still until they are.

    A response's key is its group, so all answers of a group are in one partition: the one that Kafka's own partitioner
    finds for the key. The topic must not get more partitions while it is read.
    """

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer
        self._partitions = sorted(consumer.assignment(), key=lambda one: one.partition)
        self._expected: set[TopicPartition] = set()
        consumer.pause(*self._partitions)

    def expect(self, group_id: str) -> None:
        """Read the group's partition from now on; any thread may call this, before it asks."""
        self._expected.add(self._partitions[self._number(group_id)])

    @property
    def partitions_read(self) -> set[int]:
        """The numbers of the partitions that are read."""
        return {partition.partition for partition in self._expected}

    def poll(self, timeout_ms: int) -> Iterator[bytes | None]:
        """The values that have come; one thread may call this.

        Raises:
            KafkaError: the topic cannot be read.
        """
        waiting = self._expected.copy() & self._consumer.paused()
        if waiting:
            self._consumer.resume(*waiting)
        for records in self._consumer.poll(timeout_ms=timeout_ms).values():
            for record in records:
                yield record.value

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close()

    def _number(self, group_id: str) -> int:
        """As DefaultPartitioner of Kafka's Java client, which Spark's sink uses."""
        positive = murmur2(group_id.encode()) & 0x7FFFFFFF
        return int(positive % len(self._partitions))


def responses_from_now(
    connection: Connection, events_topic: str, responses_topic: str
) -> KafkaConsumer:
    """A consumer that sees every response to a request that is sent from now on, and few others."""
    try:
        consumer = connection.open(
            KafkaConsumer,
            allow_auto_create_topics=False,
            enable_auto_commit=False,
            # The position is set below; if retention deletes records beyond it, the oldest answer left is the right one.
            auto_offset_reset="earliest",
        )
        partitions = {
            topic: [
                TopicPartition(topic, number)
                for number in consumer.partitions_for_topic(topic) or ()
            ]
            for topic in (events_topic, responses_topic)
        }
        for topic, found in partitions.items():
            if not found:
                consumer.close()
                raise TopicMissingError(
                    f"topic {topic} does not exist; `group-coordinator init` makes it"
                )
        consumer.assign(partitions[responses_topic])
        for partition, end in consumer.end_offsets(partitions[responses_topic]).items():
            consumer.seek(partition, end)
    except KafkaError as error:
        raise connection.failure(error) from error
    return consumer
