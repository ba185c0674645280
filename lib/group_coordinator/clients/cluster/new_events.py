"""Waits for new events in a topic; brokers tell of them at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient

_SLICE_MS = 200


class NewEvents(LastingClient[KafkaConsumer]):
    """Asks over the same connections again and again, and connects again after a failure."""

    def __init__(self, connection: Connection, topic: str) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            enable_auto_commit=False,
            # A partition that is new must be seen soon.
            metadata_max_age_ms=5_000,
            # That there is an event is all that matters.
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
        """Return once the topic has an event at one of these offsets, by topic and partition, or behind it.

        Or after these seconds, once `must_go_on` says so, or if Kafka cannot be asked. The result is for how many seconds
        there was no event.
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
            # Others tell that Kafka is away; the next batch is not worth a connection to it.
            self.close()
        return seen_s - begun_s

    def _behind(self, ends: Mapping[int, int]) -> KafkaConsumer:
        consumer = self.opened()
        numbers = consumer.partitions_for_topic(self._topic) or ()
        consumer.assign([TopicPartition(self._topic, number) for number in numbers])
        for number in numbers:
            consumer.seek(TopicPartition(self._topic, number), ends.get(number, 0))
        return consumer
