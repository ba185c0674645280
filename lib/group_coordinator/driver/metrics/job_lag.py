"""Lag of the job in its events topic: the number of unhandled events, and the age of the oldest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from prometheus_client.metrics_core import Metric

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.errors import ChannelError
from group_coordinator.driver.families import gauge

_POLL_MS = 200
_POLLS = 10


class UnhandledEvents(NamedTuple):
    """Unhandled events; `oldest_ms` is the timestamp of the first, None: there are none."""

    events: int
    oldest_ms: int | None


class Unread(LastingClient[KafkaConsumer]):
    """Client that measures the lag over lasting connections, and connects again after a failure.

    Args:
        connection: the cluster.
        topic: the events topic.
        read_to: returns by partition the offset behind the handled events.
    """

    def __init__(
        self, connection: Connection, topic: str, read_to: Callable[[], Mapping[int, int]]
    ) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            # One event of each partition is enough.
            fetch_max_bytes=1,
            max_partition_fetch_bytes=1,
        )
        self._topic = topic
        self._read_to = read_to
        self._found: UnhandledEvents | None = None

    def look(self) -> None:
        """Measure now. Without a response the lag is unknown; a monitor reports the outage."""
        try:
            self._found = self._asked(self.opened(), self._read_to())
        except (ChannelError, KafkaError):
            self._found = None
            # A connection may be useless after a failure; the next look opens a new one.
            self.close()

    def families(self) -> Iterator[Metric]:
        """Yield the last measured gauges; none if the lag is unknown."""
        if self._found is not None:
            yield from behind_families(self._found)

    def _asked(self, consumer: KafkaConsumer, read_to: Mapping[int, int]) -> UnhandledEvents:
        numbers = consumer.partitions_for_topic(self._topic) or ()
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        begins = consumer.beginning_offsets(partitions)
        behind: dict[TopicPartition, int] = {}
        events = 0
        for partition, end in consumer.end_offsets(partitions).items():
            # Retention may have removed events that were never read.
            first = max(read_to.get(partition.partition, 0), begins[partition])
            if first < end:
                behind[partition] = first
                events += end - first
        return UnhandledEvents(events, _oldest_ms(consumer, behind))


def behind_families(backlog: UnhandledEvents) -> Iterator[Metric]:
    """Yield the gauges of a backlog."""
    behind_s = 0.0
    if backlog.oldest_ms is not None:
        behind_s = max(0.0, time.time_ns() / 1e9 - backlog.oldest_ms / 1e3)
    for name, meaning, number in (
        ("events", "Events that are not handled yet", backlog.events),
        ("seconds", "The age of the oldest event that is not handled yet", behind_s),
    ):
        yield gauge(f"group_coordinator_behind_{name}", meaning, (), [((), number)])


def _oldest_ms(consumer: KafkaConsumer, behind: Mapping[TopicPartition, int]) -> int | None:
    # Only events that arrive in time count: a slow broker must not delay the look.
    missing, times_ms = dict(behind), []
    for _ in range(_POLLS):
        if not missing:
            break
        consumer.assign([*missing])
        for partition, offset in missing.items():
            consumer.seek(partition, offset)
        for partition, records in consumer.poll(_POLL_MS, max_records=len(missing)).items():
            times_ms += [record.timestamp for record in records[:1]]
            missing.pop(partition, None)
    return min(times_ms, default=None)
