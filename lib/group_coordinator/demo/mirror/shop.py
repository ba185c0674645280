"""The shop, which writes records into its topics."""

from __future__ import annotations

import logging
from threading import Event

from confluent_kafka import Producer
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from msgspec import json

from group_coordinator.background import Background
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.demo.mirror.cast import LEDGER_TOPIC, PARTITION_COUNTS

_ROUND_S = 0.25
_RECORDS_A_ROUND = 2
_log = logging.getLogger(__name__)


class Shop:
    """Writes some records a second into every topic while it is open.

    Args:
        connection: to the cluster.
        prefix: of its topics.
    """

    def __init__(self, connection: Connection, prefix: str) -> None:
        self._connection = connection
        self._topics = {prefix + topic: count for topic, count in PARTITION_COUNTS.items()}
        self._others = {prefix + LEDGER_TOPIC: 1}
        self._thread = Background(self._run, "shop")

    @property
    def topics(self) -> list[str]:
        """All topics that it creates."""
        return [*self._topics, *self._others]

    def open(self) -> None:
        """Create the topics, then write until `close`."""
        with self._connection.opened(KafkaAdminClient) as admin:
            admin.create_topics(
                [
                    NewTopic(topic, num_partitions=count, replication_factor=-1)
                    for topic, count in {**self._topics, **self._others}.items()
                ],
                wait_for_metadata=True,
            )
        self._thread.start()

    def give_up(self, topic: str) -> None:
        """Write no more into a topic."""
        self._topics = {name: count for name, count in self._topics.items() if name != topic}

    def close(self) -> None:
        """Stop writing; the topics stay."""
        self._thread.end()

    def _run(self, ended: Event) -> None:
        producer = Producer({"bootstrap.servers": self._connection.bootstrap_servers}, logger=_log)
        number = 0
        while not ended.wait(_ROUND_S):
            for topic, partition_count in self._topics.items():
                for _ in range(_RECORDS_A_ROUND * partition_count):
                    number += 1
                    value = json.encode({"number": number})
                    producer.produce(topic, value, partition=number % partition_count)
            producer.poll(0)
        producer.flush(1)
