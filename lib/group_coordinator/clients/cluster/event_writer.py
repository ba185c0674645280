"""Writer of the job's own events, and the wait for new events in a topic, which brokers announce at once.

Spark runs no batch after a restart until there is data, and without a batch no timer fires: Tick events are that data. Brokers add
their timestamps, which also show the distance between this machine's clock and the brokers'.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient, LastingProducer
from group_coordinator.clients.errors import ChannelError

_TIMEOUT_S = 30


class EventWriter:
    """Producer of events that connects again after a failure."""

    def __init__(self, connection: Connection, events_topic: str) -> None:
        self._events_topic = events_topic
        self._producer = LastingProducer(connection, acks="all")

    def write(self, events: Sequence[tuple[str, bytes]]) -> None:
        """Write pairs of group id and value, and wait for all acknowledgements.

        ChannelError: the cluster does not accept all; some may be written.
        """
        with self._producer.reported_failures():
            sent = [
                self._producer.send(self._events_topic, key=group_id.encode(), value=value)
                for group_id, value in events
            ]
            # All records are sent before the first wait, so that they share requests.
            for future in sent:
                future.get(_TIMEOUT_S)

    def close(self) -> None:
        """Disconnect from the cluster, after which the next write connects."""
        self._producer.close()


class Ticks(NamedTuple):
    """Result of a Tick in every partition: the offsets behind the ticks, and by how many ms this machine's clock is ahead.

    All earlier records of the topic have lower offsets. `ahead_ms` is the least distance; negative: the clock is behind the
    brokers'; 0: they may agree.
    """

    ends: dict[int, int]
    ahead_ms: int


def write_ticks(connection: Connection, events_topic: str, basis_id: str | None = None) -> Ticks:
    """Write a Tick to every partition, which may announce a basis (runtime/basis.py).

    Raises BrokerUnreachableError: the cluster does not accept all; some may be written.
    """
    body = {} if basis_id is None else {"basisId": basis_id}
    tick = json.dumps({"api": "Tick", "version": 0, "correlationId": None, "body": body}).encode()
    with connection.opened(KafkaProducer, acks="all") as producer:
        partitions = producer.partitions_for(events_topic)
        before_ms = _now_ms()
        sent = [
            producer.send(events_topic, key=b"", value=tick, partition=partition).get(30)
            for partition in sorted(partitions)
        ]
        # The brokers' timestamps lie between the two readings, if the clocks agree.
        after_ms = _now_ms()
    ends = {each.partition: each.offset + 1 for each in sent}
    return Ticks(ends, ahead_ms([each.timestamp for each in sent], before_ms, after_ms))


def ahead_ms(stamps: Collection[int], before_ms: int, after_ms: int) -> int:
    """Time by which a clock is ahead of the timestamps of records, from a reading before and after; the largest distance counts."""
    return max((_distance_ms(stamp, before_ms, after_ms) for stamp in stamps), key=abs, default=0)


def _distance_ms(stamp: int, before_ms: int, after_ms: int) -> int:
    if stamp < before_ms:
        return before_ms - stamp
    return min(after_ms - stamp, 0)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


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
        self, ends: Mapping[str, Mapping[int, int]], seconds: float, must_go_on: Callable[[], bool]
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
