"""Millions of records through one gateway: does its memory stay what it was?"""

from __future__ import annotations

import socket
import time
from contextlib import closing

import confluent_kafka
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from group_coordinator.local.broker import LOOPBACK
from tests.faults.result import Result
from tests.gateway_faults.frames import TOPIC, ask, counted, read_frame
from tests.gateway_faults.stage import Stage

_WRITTEN = 2_000_000
_VALUE = b"v" * 100
_TIMEOUT_S = 30.0
_MOST_GROWTH_MB = 30


def filled(stage: Stage, records: int) -> None:
    """Write so many, through the gateway."""
    with closing(KafkaAdminClient(bootstrap_servers=stage.bootstrap_servers)) as admin:
        admin.create_topics([NewTopic(TOPIC, 1, 1)], wait_for_metadata=True)
    options = {
        "bootstrap.servers": stage.bootstrap_servers,
        "linger.ms": 20,
        "queue.buffering.max.messages": 500_000,
        "batch.size": 500_000,
    }
    producer = confluent_kafka.Producer(options)
    for number in range(records):
        if number % 10_000 == 0:
            while len(producer) > 400_000:
                producer.poll(0.05)
        producer.produce(TOPIC, _VALUE, partition=0)
    assert producer.flush(60) == 0


def relayed(stage: Stage, records: int, minutes: float) -> Result:
    """Read the same records again and again, until so many have passed or the time is over."""
    filled(stage, _WRITTEN)
    seen, bytes_read = 0, 0
    sizes_mb: list[int] = []
    begun_s = time.monotonic()
    with socket.create_connection((LOOPBACK, stage.node_port), timeout=_TIMEOUT_S) as connection:
        offset, next_look = 0, records // 12
        while seen < records and time.monotonic() - begun_s < minutes * 60:
            connection.sendall(ask(offset, 500))
            frame = read_frame(connection)
            count, behind = counted(frame)
            assert count, f"nothing at {offset}"
            seen, bytes_read = seen + count, bytes_read + len(frame)
            offset = behind if behind < _WRITTEN else 0
            if seen >= next_look:
                sizes_mb.append(stage.resident_mb)
                next_look += records // 12
    took_s = time.monotonic() - begun_s
    figures = {
        "records written through it": _WRITTEN,
        "records relayed": seen,
        "MB/s": round(bytes_read / 1e6 / took_s),
        "MB in memory": sizes_mb,
    }
    problems = [] if seen >= records else [f"{seen} records only in {minutes:g} minutes"]
    if max(sizes_mb) - sizes_mb[0] > _MOST_GROWTH_MB:
        problems.append(f"memory grew: {sizes_mb}")
    return Result("relay", 1, 0, 0, problems, figures)
