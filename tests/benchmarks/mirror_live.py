"""A mirror that keeps up: how far it is behind while clients commit, with compaction beside it.

    python -m tests.benchmarks.mirror_live [--rates 500 5000] [--seconds 90]

1,000 groups commit to 10 partitions each, so many times a second, into a topic of 50 partitions. The mirror runs with its
default settings. A batch is behind by the age of its newest record when its rows are in the log; the first 30 seconds of a rate do not count.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.mirror.topic import MirroredTopic
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.mirror.query import MIRROR, MirrorRun
from group_coordinator.mirror.sinks import MirroredBatch, MirrorSinks
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.creation import create_tables
from tests.benchmarks.measured import show
from tests.benchmarks.mirror import GROUPS, TOPIC, TOPIC_PARTITIONS, commits, new_topic

WARM_S = 30
SLICE_S = 0.1


class Behind:
    """Hears of batches: how many records, and how old the newest of them was."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.records = 0

    def batch_done(self, _batch_id: int, found: MirroredBatch) -> None:
        self.records += found.records
        if found.newest_ms is not None:
            self.seconds.append(time.time() - found.newest_ms / 1000)


def commit_for(servers: str, rate: int, seconds: float) -> int:
    """Write so many records a second; how many they were."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})
    messages = cycle(list(commits(GROUPS * TOPIC_PARTITIONS)))
    begun_s = time.monotonic()
    sent = 0
    while (passed_s := time.monotonic() - begun_s) < seconds:
        for partition, key, value in islice(messages, round(passed_s * rate) - sent):
            producer.produce(TOPIC, value, key, partition=partition)
            sent += 1
        producer.poll(0)
        time.sleep(SLICE_S)
    producer.flush(60)
    return sent


def measure_rate(
    spark: SparkSession, chosen: Settings, rate: int, seconds: float
) -> dict[str, float]:
    """A mirror of its own, from the topic's beginning."""
    job = chosen.job
    create_tables(job.tables_root, lambda: spark)
    writer = checked_writer(spark, job, lambda: None, MIRROR)
    topic = MirroredTopic(spark, job, Connection.of(job), cluster_options(job))
    behind, over = Behind(), Event()
    sinks = MirrorSinks(
        writer=writer,
        topic=TOPIC,
        explain=lambda rows, _batch_id, _gone: rows,
        report=behind.batch_done,
        gone=topic.gone,
    )
    run = MirrorRun(
        spark=spark,
        job=job,
        take_up=topic.take_up,
        may_go_on=topic.may_go_on,
        sinks=sinks,
        stop=over,
    )
    threads = [
        Thread(target=run.run),
        Thread(target=CompactionQuery(spark, chosen).run_again_and_again, args=[over]),
    ]
    for thread in threads:
        thread.start()
    commit_for(job.bootstrap_servers, rate, WARM_S)
    warm = len(behind.seconds)
    sent = commit_for(job.bootstrap_servers, rate, seconds)
    counted = behind.seconds[warm:]
    over.set()
    for thread in threads:
        thread.join()
    return {
        f"sent_a_second_at_{rate}": round(sent / seconds),
        f"median_s_behind_at_{rate}": round(statistics.median(counted), 2),
        f"most_s_behind_at_{rate}": round(max(counted), 2),
    }


def measure(rates: list[int], seconds: float) -> dict[str, float]:
    """One rate after the other in one session."""
    result: dict[str, float] = {}
    with ExitStack() as opened:
        broker = opened.enter_context(EmbeddedBroker())
        new_topic(broker.bootstrap_servers)
        folder = Path(opened.enter_context(TemporaryDirectory()))
        scratch = opened.enter_context(scratch_folder())
        given = [f"bootstrap.servers={broker.bootstrap_servers}", f"events.topic={TOPIC}"]
        spark = local_session(settings.load(overrides=given).job, spark_jars(), scratch)
        opened.callback(spark.stop)
        for rate in rates:
            own = (f"tables.root={folder}/{rate}/tables", f"checkpoint.location={folder}/{rate}/cp")
            chosen = settings.load(overrides=[*given, *own])
            result |= measure_rate(spark, chosen, rate, seconds)
    return result


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rates", type=int, nargs="+", default=[500, 5_000])
    parser.add_argument("--seconds", type=float, default=90)
    chosen = parser.parse_args()
    show("A mirror that keeps up", measure(chosen.rates, chosen.seconds))


if __name__ == "__main__":
    main()
