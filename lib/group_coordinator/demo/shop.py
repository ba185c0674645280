"""The shop whose records the applications read: real topics, a producer, and a common reader for all members."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from itertools import count
from threading import Event

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError
from msgspec import json

from group_coordinator.background import Background
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection

_ROUND_SECONDS = 0.2
_RECORDS_A_ROUND = 10
_POLL_MS = 20


class Shop:
    """Writes records while it is open, and keeps the read position of each partition.

    A consumer for every member would take more of two cores than the coordinator does: a common reader reads for all
    applications.
    """

    def __init__(self, connection: Connection, partition_counts: Mapping[str, int]) -> None:
        self._connection = connection
        self.partition_counts = partition_counts
        self._partitions = [
            TopicPartition(topic, number)
            for topic, partition_count in partition_counts.items()
            for number in range(partition_count)
        ]
        self._read = dict.fromkeys(self._partitions, 0)
        self._numbers = count()
        self._failure: KafkaError | None = None
        self._thread = Background(self._run, "shop")

    def open(self) -> None:
        """Create the topics, then write and read until `close`."""
        topics = [
            NewTopic(topic, num_partitions=partition_count, replication_factor=1)
            for topic, partition_count in self.partition_counts.items()
        ]
        with self._connection.opened(KafkaAdminClient) as admin:
            admin.create_topics(topics, wait_for_metadata=True)
        self._thread.start()

    def topic_ids(self) -> dict[str, str]:
        """Return the ids of the topics, by name."""
        with closing(Cluster(self._connection)) as cluster:
            return cluster.topic_ids(self.partition_counts.keys())

    def check(self) -> None:
        """Raise the error that ended the thread, if any."""
        if self._failure is not None:
            raise self._failure

    def read_up_to(self, partition: TopicPartition) -> int:
        """Return the offset after the last record that was read."""
        return self._read[partition]

    def close(self) -> None:
        """Close the shop; the topics stay."""
        self._thread.end()

    def _run(self, ended: Event) -> None:
        try:
            producer = self._connection.open(KafkaProducer)
            reader = self._connection.open(
                KafkaConsumer, enable_auto_commit=False, auto_offset_reset="earliest"
            )
            reader.assign(self._partitions)
            try:
                while not ended.wait(_ROUND_SECONDS):
                    self._sell(producer)
                    self._take(reader)
            finally:
                reader.close()
                producer.close(timeout=1)
        except KafkaError as error:
            self._failure = error

    def _sell(self, producer: KafkaProducer) -> None:
        for number in (next(self._numbers) for _ in range(_RECORDS_A_ROUND)):
            partition = self._partitions[number % len(self._partitions)]
            value = json.encode({"number": number, "topic": partition.topic})
            producer.send(partition.topic, value, partition=partition.partition)

    def _take(self, reader: KafkaConsumer) -> None:
        for partition, records in reader.poll(timeout_ms=_POLL_MS).items():
            self._read[partition] = records[-1].offset + 1
