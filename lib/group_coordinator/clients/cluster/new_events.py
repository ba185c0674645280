"""Wait for new events in a topic, which brokers announce at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.errors import ChannelError

_SLICE_MS = 200


class NewEvents(LastingClient[KafkaConsumer]):
    """Long-polls over the same connections, and connects again after a failure."""

    def __init__(self, connection: Connection, topic: str) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            enable_auto_commit=False,
            # New partitions must be seen soon.
            metadata_max_age_ms=5_000,
            # The existence of an event is enough, so one byte is fetched.
            fetch_max_bytes=1,
            max_partition_fetch_bytes=1,
        )
        self._topic = topic

    def wait(
        self,
        ends: Mapping[str, Mapping[int, int]],
        seconds: float,
        must_go_on: Callable[[], bool],
    ) -> float:
        """Return once the topic has an event at or behind any of these offsets, by topic and partition.

        It also returns after these seconds, when `must_go_on` returns True, or if Kafka does not answer. The result is
        the number of seconds without an event.
        """
        if must_go_on():
            return 0
        begun_s = seen_s = time.monotonic()
        try:
            consumer = self._behind(ends.get(self._topic, {}))
            begun_s = seen_s = time.monotonic()
            while (left_s := begun_s + seconds - seen_s) > 0 and not must_go_on():
                if consumer.poll(timeout_ms=min(_SLICE_MS, left_s * 1000), max_records=1):
                    break
                seen_s = time.monotonic()
        except (ChannelError, KafkaError):
            # Other tasks report an outage of Kafka. The next batch does not need a connection for it.
            self.close()
        return seen_s - begun_s

    def _behind(self, ends: Mapping[int, int]) -> KafkaConsumer:
        consumer = self.opened()
        numbers = consumer.partitions_for_topic(self._topic) or ()
        consumer.assign([TopicPartition(self._topic, number) for number in numbers])
        for number in numbers:
            # A partition that was never read counts from its beginning.
            consumer.seek(TopicPartition(self._topic, number), ends.get(number, 0))
        return consumer
