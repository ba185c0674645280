"""The responses topic from now on: all its partitions, or the one that a client's requests name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka import KafkaConsumer, TopicPartition

from group_coordinator.clients.channel_errors import TopicMissingError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient


class ResponseReader(LastingClient[KafkaConsumer]):
    """One thread may call its methods, which raise a KafkaError where the topic cannot be read.

    Args:
        connection: how the cluster is reached.
        topic: the responses topic.
        positions: of partitions that were read before, by number; kept up to date.
        options: of KafkaConsumer.
    """

    def __init__(
        self, connection: Connection, topic: str, positions: dict[int, int], **options: Any
    ) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            allow_auto_create_topics=False,
            enable_auto_commit=False,
            # Where retention deletes what a position points to, the oldest response left is the right one.
            auto_offset_reset="earliest",
            **options,
        )
        self._topic = topic
        self._positions = positions
        self.numbers: list[int] = []
        """The partitions that are read."""

    def partitions_of(self, topic: str) -> list[int]:
        """The numbers of its partitions.

        Raises:
            TopicMissingError: it does not exist.
        """
        numbers = sorted(self.opened().partitions_for_topic(topic) or ())
        if not numbers:
            self.close()
            raise TopicMissingError(topic)
        return numbers

    def begin(self, numbers: list[int]) -> None:
        """Read these partitions from their positions, and from now on where there is none."""
        for partition, end in self.opened().end_offsets(self._assign(numbers)).items():
            self.opened().seek(partition, self._positions.setdefault(partition.partition, end))

    def add_new_partitions(self) -> None:
        """Read new partitions from their beginning; those that are read already keep their positions."""
        numbers = sorted(self.opened().partitions_for_topic(self._topic) or ())
        if len(numbers) > len(self.numbers):
            self._assign(numbers)

    def poll(self, timeout_ms: int) -> Iterator[bytes]:
        """The values that have arrived; other clients' responses may be among them."""
        for partition, records in self.opened().poll(timeout_ms=timeout_ms).items():
            yield from (record.value for record in records if record.value is not None)
            self._positions[partition.partition] = records[-1].offset + 1

    def _assign(self, numbers: list[int]) -> list[TopicPartition]:
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        self.opened().assign(partitions)
        self.numbers = numbers
        return partitions


def reply_partition_from_now(
    connection: Connection, events_topic: str, responses_topic: str, lot: int
) -> ResponseReader:
    """Reads one partition: where every response arrives to a request that names it and is sent from now on, and few others.

    `lot` is drawn by the client, from 0 up: clients with different lots share the partitions evenly.

    Raises:
        ChannelError: the cluster does not answer, does not let us in, or a topic is missing.
    """
    reader = ResponseReader(connection, responses_topic, {})
    with reader.failures_told():
        reader.partitions_of(events_topic)
        numbers = reader.partitions_of(responses_topic)
        reader.begin([numbers[lot % len(numbers)]])
    return reader
