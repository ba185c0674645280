"""The shop, which writes records into its topics."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Event

from confluent_kafka import KafkaError, Message, Producer
from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import NewTopic
from msgspec import json

from group_coordinator.background import Background
from group_coordinator.clients.cluster.connection import Connection

_ROUND_S = 0.25
_RECORDS_A_ROUND = 2
_log = logging.getLogger(__name__)


class Shop:
    """Writes some records a second into every partition while it is open; `others` are topics of one partition for others."""

    def __init__(
        self, connection: Connection, partition_counts: Mapping[str, int], *others: str
    ) -> None:
        self._connection = connection
        self.topics = {**partition_counts, **dict.fromkeys(others, 1)}
        self._written = dict(partition_counts)
        self._ends: dict[TopicPartition, int] = {}
        self._thread = Background(self._run, "shop")

    def open(self) -> None:
        """Create the topics, then write until `close`."""
        with self._connection.opened(KafkaAdminClient) as admin:
            admin.create_topics(
                [
                    NewTopic(topic, num_partitions=count, replication_factor=-1)
                    for topic, count in self.topics.items()
                ],
                wait_for_metadata=True,
            )
        self._thread.start()

    def end_of(self, partition: TopicPartition) -> int:
        """Return the offset after the last record that the broker has."""
        return self._ends.get(partition, 0)

    def give_up(self, topic: str) -> None:
        self._written = {name: count for name, count in self._written.items() if name != topic}

    def close(self) -> None:
        """Stop writing; the topics stay."""
        self._thread.end()

    def _run(self, ended: Event) -> None:
        producer = Producer({"bootstrap.servers": self._connection.bootstrap_servers}, logger=_log)
        number = 0
        while not ended.wait(_ROUND_S):
            for topic, count in self._written.items():
                for _ in range(_RECORDS_A_ROUND * count):
                    number += 1
                    value = json.encode({"number": number})
                    producer.produce(topic, value, partition=number % count, on_delivery=self._note)
            producer.poll(0)
        producer.flush(1)

    def _note(self, error: KafkaError | None, message: Message) -> None:
        offset = message.offset()
        if error is None and offset is not None:
            self._ends[TopicPartition(message.topic(), message.partition())] = offset + 1
