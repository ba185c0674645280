"""Tick events: Spark runs no batch after a restart until there is data, and without a batch no timer fires.

Brokers add their timestamps, which also show the distance between this machine's clock and the brokers'.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import NamedTuple

from kafka import KafkaProducer

from group_coordinator.clients.cluster.connection import Connection

_TICK = json.dumps({"api": "Tick", "version": 0, "correlationId": None, "body": {}}).encode()


class Ticks(NamedTuple):
    """Result of a Tick in every partition.

    `ends` are the offsets behind the ticks, by partition: all earlier records of the topic have lower offsets.
    `ahead_ms` is the least time by which this machine's clock is ahead of the brokers'; negative: behind them; 0: they
    may agree.
    """

    ends: dict[int, int]
    ahead_ms: int


def write_ticks(connection: Connection, events_topic: str) -> Ticks:
    """Write a Tick to every partition.

    Raises:
        BrokerUnreachableError: the cluster does not accept them.
    """
    with connection.opened(KafkaProducer, acks="all") as producer:
        partitions = producer.partitions_for(events_topic)
        before_ms = _now_ms()
        sent = [
            producer.send(events_topic, key=b"", value=_TICK, partition=partition).get(30)
            for partition in sorted(partitions)
        ]
        # The brokers' timestamps lie between the two readings, if the clocks agree.
        after_ms = _now_ms()
    ends = {tick.partition: tick.offset + 1 for tick in sent}
    return Ticks(ends, ahead_ms([tick.timestamp for tick in sent], before_ms, after_ms))


def ahead_ms(stamps: Collection[int], before_ms: int, after_ms: int) -> int:
    """Time by which a clock is ahead of the timestamps of records, from a reading before and after; the largest distance counts."""
    return max((_distance_ms(stamp, before_ms, after_ms) for stamp in stamps), key=abs, default=0)


def _distance_ms(stamp: int, before_ms: int, after_ms: int) -> int:
    if stamp < before_ms:
        return before_ms - stamp
    return min(after_ms - stamp, 0)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
