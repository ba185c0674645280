"""What groups cost that nobody speaks to: the time of an idle batch, and the memory of driver and workers.

    python -m tests.benchmarks.idle_groups [--groups 10000 300000] [--state-bytes 0]

The whole job runs, compaction too: every group commits once, then nothing happens. Spark looks at every group's timer
in every batch; the difference between two numbers of groups is what one idle group adds to a batch. With --state-bytes each
group has so much metadata beside its offset.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from confluent_kafka import Producer
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.clients.cluster.event_writer import write_ticks
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.streaming.coordinator_query import CoordinatorHooks, CoordinatorRun
from group_coordinator.streaming.session import local_session
from group_coordinator.streaming.small_batch import no_back_off
from group_coordinator.tables.creation import create_tables
from tests.benchmarks.measured import Memory, show
from tests.benchmarks.throughput import commit_of

IDLE_BATCHES = 30
_METADATA_BYTES = 4_000
"""Less than offset.metadata.max.bytes."""
_FLUSHED_EVENTS = 10_000
"""Fewer than librdkafka's queue holds."""


class IdleBatches:
    """Watches the query until enough batches without events have run with all groups in state."""

    def __init__(self, groups: int, over: Event) -> None:
        self._groups = groups
        self._over = over
        self._seen: dict[int, float] = {}

    def look(self, query: StreamingQuery) -> None:
        for progress in query.recentProgress:
            groups = sum(operator.numRowsTotal for operator in progress.stateOperators)
            if progress.numInputRows == 0 and groups >= self._groups:
                self._seen[progress.batchId] = progress.durationMs["addBatch"]
        if len(self._seen) >= IDLE_BATCHES:
            self._over.set()

    @property
    def median_ms(self) -> float:
        """The first ones warm up."""
        return statistics.median(list(self._seen.values())[IDLE_BATCHES // 3 :])


def measure(spark: SparkSession, chosen: Settings, groups: int, state_bytes: int) -> float:
    """The median time of an idle batch, in milliseconds."""
    connection = Connection.of(chosen.job)
    create_tables(chosen.job.tables_root, lambda: spark)
    create_topics(connection, chosen.job)
    _commit_once(chosen, groups, state_bytes)
    over = Event()
    idle = IdleBatches(groups, over)
    around = CoordinatorHooks(
        tick=lambda: write_ticks(connection, chosen.job.events_topic).ends,
        must_wait=lambda: False,
        plans=Plans(coordinator_folder(spark, chosen.job)),
        before_query=lambda: None,
        before_batch=lambda _batch_id: None,
        report=lambda *_: None,
        rest=no_back_off,
        watches=[idle.look],
        reply_partitions=lambda: chosen.job.responses_topic_partitions,
    )
    writer = checked_writer(spark, chosen.job, lambda: None)
    coordinator = CoordinatorRun(
        spark=spark, settings=chosen, writer=writer, around=around, stop=over
    )
    beside = Thread(target=CompactionQuery(spark, chosen).run_again_and_again, args=[over])
    beside.start()
    coordinator.run()
    beside.join()
    return idle.median_ms


def _commit_once(chosen: Settings, groups: int, state_bytes: int) -> None:
    partitions = dict.fromkeys(range(-(-state_bytes // _METADATA_BYTES) or 1), 1)
    metadata = "m" * (state_bytes // len(partitions)) or None
    # Murmur2 is the hash of Kafka's own clients.
    producer = Producer(
        {
            "bootstrap.servers": chosen.job.bootstrap_servers,
            "linger.ms": 50,
            "partitioner": "murmur2_random",
        }
    )
    for number in range(groups):
        name = f"group-{number}"
        value = commit_of(name, {"orders": partitions}, number, metadata)
        producer.produce(chosen.job.events_topic, key=name.encode(), value=value)
        if number % _FLUSHED_EVENTS == 0:
            producer.flush()
    producer.flush()


def run(counts: list[int], state_bytes: int) -> Mapping[str, float]:
    """All numbers of groups one after the other in one session; the memory is that of the largest."""
    result: dict[str, float] = {}
    with EmbeddedBroker() as broker, TemporaryDirectory() as folder, scratch_folder() as scratch:
        base = [f"bootstrap.servers={broker.bootstrap_servers}"]
        spark = local_session(settings.load(overrides=base).job, spark_jars(), scratch)
        memory = Memory(os.getpid())
        for groups in counts:
            own = [
                f"events.topic=events-{groups}",
                f"responses.topic=responses-{groups}",
                f"tables.root={Path(folder)}/{groups}/tables",
                f"checkpoint.location={Path(folder)}/{groups}/checkpoint",
            ]
            start_s = time.monotonic()
            chosen = settings.load(overrides=[*base, *own])
            result[f"idle_batch_ms_with_{groups}_groups"] = measure(
                spark, chosen, groups, state_bytes
            )
            result[f"seconds_with_{groups}_groups"] = round(time.monotonic() - start_s)
        memory.close()
        spark.stop()
    fewest, most = min(counts), max(counts)
    if most > fewest:
        extra_ms = (
            result[f"idle_batch_ms_with_{most}_groups"]
            - result[f"idle_batch_ms_with_{fewest}_groups"]
        )
        result["microseconds_an_idle_group"] = round(extra_ms * 1_000 / (most - fewest), 2)
    result["memory_bytes"] = memory.highest_bytes
    return result


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--groups", type=int, nargs="+", default=[10_000, 300_000])
    parser.add_argument("--state-bytes", type=int, default=0)
    chosen = parser.parse_args()
    show("Idle groups", run(chosen.groups, chosen.state_bytes))


if __name__ == "__main__":
    main()
