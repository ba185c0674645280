"""Check that the leaders of a topic's partitions are reachable."""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient

_TIMEOUT_MS = 3_000


class Leaders(LastingClient[KafkaConsumer]):
    """Asks all leaders repeatedly over the same connections, and connects again after a failure."""

    def __init__(self, connection: Connection, topic: str) -> None:
        super().__init__(connection, KafkaConsumer, enable_auto_commit=False)
        self._topic = topic

    def ask(self) -> None:
        """Return after all leaders have answered.

        Raises:
            ChannelError: a leader does not answer, or rejects the login.
        """
        with self.reported_failures():
            consumer = self.opened()
            numbers = consumer.partitions_for_topic(self._topic) or ()
            partitions = [TopicPartition(self._topic, number) for number in numbers]
            # Only leaders answer this request.
            consumer.end_offsets(partitions, timeout_ms=_TIMEOUT_MS)
