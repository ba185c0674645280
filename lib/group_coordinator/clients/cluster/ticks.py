"""Tick events: Spark runs no batch after a restart until there is data, and without a batch no deadline fires.

Brokers stamp them, so they also tell how far the clock of this machine is from the brokers'.
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
    """What came of writing a Tick to every partition.

    `ends` are the offsets after them, by partition: all records that were in the topic have lower ones. `ahead_ms` is by
    how much this machine's clock is at least ahead of the brokers'; negative: behind them; 0: they may agree.
    """

    ends: dict[int, int]
    ahead_ms: int


def write_ticks(connection: Connection, events_topic: str) -> Ticks:
    """Write one Tick to every partition.

    Raises:
        BrokerUnreachableError: the cluster does not take them.
    """
    with connection.opened(KafkaProducer, acks="all") as producer:
        partitions = producer.partitions_for(events_topic)
        before_ms = _now_ms()
        sent = [
            producer.send(events_topic, key=b"", value=_TICK, partition=partition).get(30)
            for partition in sorted(partitions)
        ]
        after_ms = _now_ms()
    ends = {tick.partition: tick.offset + 1 for tick in sent}
    return Ticks(ends, ahead_ms([tick.timestamp for tick in sent], before_ms, after_ms))


def ahead_ms(stamps: Collection[int], before_ms: int, after_ms: int) -> int:
    """By how much a clock is ahead of those that stamped records between two readings of it; the farthest counts."""
    return max((_distance_ms(stamp, before_ms, after_ms) for stamp in stamps), key=abs, default=0)


def _distance_ms(stamp: int, before_ms: int, after_ms: int) -> int:
    if stamp < before_ms:
        return before_ms - stamp
    return min(after_ms - stamp, 0)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
