"""Whether the brokers can be reached that lead the partitions of a topic."""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.clients.cluster.connection import Connection

_TIMEOUT_MS = 3_000


class Leaders:
    """Asks all leaders repeatedly over the same connections, and connects again after a failure."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self._connection = connection
        self._topic = topic
        self._consumer: KafkaConsumer | None = None

    def ask(self) -> None:
        """Return when each of them has answered.

        Raises:
            ChannelError: one of them does not answer, or does not let us in.
        """
        if self._consumer is None:
            self._consumer = self._connection.open(KafkaConsumer, enable_auto_commit=False)
        try:
            numbers = self._consumer.partitions_for_topic(self._topic) or ()
            partitions = [TopicPartition(self._topic, number) for number in numbers]
            self._consumer.end_offsets(partitions, timeout_ms=_TIMEOUT_MS)
        except KafkaError as error:
            self.close()
            raise self._connection.failure(error) from error

    def close(self) -> None:
        """Disconnect."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close(autocommit=False)
