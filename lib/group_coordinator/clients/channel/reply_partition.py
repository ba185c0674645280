"""The responses topic as a client reads it: from now on, and only one partition, which its requests name."""

from __future__ import annotations

from collections.abc import Iterator

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.clients.channel_errors import TopicMissingError
from group_coordinator.clients.cluster.connection import Connection


class ReplyPartition:
    """Reads one partition of the responses topic; other clients' answers may come in it too.

    A client needs no other, however many groups it asks about, and the topic may get more partitions meanwhile.
    """

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer
        [assigned] = consumer.assignment()
        self.number: int = assigned.partition

    def poll(self, timeout_ms: int) -> Iterator[bytes | None]:
        """The values that have come; one thread may call this.

        Raises:
            KafkaError: the topic cannot be read.
        """
        for records in self._consumer.poll(timeout_ms=timeout_ms).values():
            for record in records:
                yield record.value

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close()


def reply_partition_from_now(
    connection: Connection, events_topic: str, responses_topic: str, lot: int
) -> ReplyPartition:
    """Where every response arrives to a request that names it and is sent from now on, and few others.

    `lot` is drawn by the client, from 0 up: clients with different lots share the partitions evenly.

    Raises:
        ChannelError: the cluster does not answer, does not let us in, or a topic is missing.
    """
    try:
        consumer = connection.open(
            KafkaConsumer,
            allow_auto_create_topics=False,
            enable_auto_commit=False,
            # The position is set below; if retention deletes records beyond it, the oldest answer left is the right one.
            auto_offset_reset="earliest",
        )
        partitions = {
            topic: sorted(consumer.partitions_for_topic(topic) or ())
            for topic in (events_topic, responses_topic)
        }
        for topic, found in partitions.items():
            if not found:
                consumer.close()
                raise TopicMissingError(topic)
        numbers = partitions[responses_topic]
        chosen = TopicPartition(responses_topic, numbers[lot % len(numbers)])
        consumer.assign([chosen])
        consumer.seek(chosen, consumer.end_offsets([chosen])[chosen])
    except KafkaError as error:
        raise connection.failure(error) from error
    return ReplyPartition(consumer)
