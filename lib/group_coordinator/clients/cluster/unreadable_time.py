"""Search for a record whose timestamp Spark cannot read: a client may set any number of 64 bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kafka import KafkaConsumer, TopicPartition

from group_coordinator.clients.cluster.connection import Connection

LAST_MS = (2**63 - 1) // 1000
"""Latest time of Spark, which counts microseconds in 64 bits; the earliest is -LAST_MS."""
_PATIENCE_MS = 10_000


class UnreadableTime(NamedTuple):
    """Position of the record, and its time in milliseconds since 1970."""

    partition: int
    offset: int
    timestamp_ms: int


def unreadable_time(
    connection: Connection, topic: str, stretches: Iterable[tuple[int, range]]
) -> UnreadableTime | None:
    """Find the first such record in these offsets of partitions; None: there is no committed record.

    Raises:
        ChannelError: the cluster does not answer, or rejects the login.
    """
    with connection.opened(
        KafkaConsumer,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # The query reads committed records only.
        isolation_level="read_committed",
    ) as consumer:
        for partition, offsets in stretches:
            for record in _records(consumer, TopicPartition(topic, partition), offsets):
                if abs(record.timestamp) > LAST_MS:
                    return UnreadableTime(partition, record.offset, record.timestamp)
    return None


def _records(consumer: KafkaConsumer, partition: TopicPartition, offsets: range) -> Iterator[Any]:
    """Yield records up to an open transaction at most."""
    consumer.assign([partition])
    consumer.seek(partition, offsets.start)
    position = offsets.start
    while position < offsets.stop:
        found = consumer.poll(timeout_ms=_PATIENCE_MS)
        yield from found.get(partition, ())
        # No progress: the rest belongs to an open transaction.
        if consumer.position(partition) == position:
            return
        position = consumer.position(partition)
