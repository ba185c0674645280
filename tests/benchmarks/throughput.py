"""Events per second of the job and, beside it in one run, of a stateful function that does nothing.

    python -m tests.benchmarks.throughput [--rounds 3]

The job runs with the stock exchange and with the lean one (streaming/operator/lean_exchange.py). All read the same Kafka topic through
the same two columns, keep a state a group in the same store, and throw their output away; only the function differs, and
Python's workers, which the job tunes for itself. The ratio of times, ours to that of the identity function on the stock
exchange, is what the project is held to; absolute figures are the machine's. The core is measured alone as well: one
thread, no Spark, no JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory
from typing import Any

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

from group_coordinator import settings
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.operator.known_pyspark import Exchange
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.session import local_session
from group_coordinator.streaming.source import pack
from tests.benchmarks.core_alone import commits_per_second
from tests.benchmarks.identity import identity

SHAPES = ((10_000, 10), (100, 1_000))
PARTITIONS = 2
BATCH_EVENTS = 100_000
TURNS = 2


def commit(group_id: str, number: int) -> bytes:
    """An OffsetCommit of a simple consumer: every one is logged and answered."""
    return commit_of(group_id, {"orders": {number % 10: number}}, number)


def commit_of(
    group_id: str,
    offsets: Mapping[str, Mapping[int, int]],
    number: int = 0,
    metadata: str | None = None,
) -> bytes:
    """An OffsetCommit of these offsets by topic and partition."""
    topics = [
        {
            "name": topic,
            "partitions": [
                {
                    "partitionIndex": partition,
                    "committedOffset": offset,
                    "committedLeaderEpoch": -1,
                    "committedMetadata": metadata,
                }
                for partition, offset in partitions.items()
            ],
        }
        for topic, partitions in offsets.items()
    ]
    body = {
        "groupId": group_id,
        "generationIdOrMemberEpoch": -1,
        "memberId": "",
        "topics": topics,
    }
    event = {
        "api": "OffsetCommit",
        "version": 8,
        "correlationId": f"c-{number}",
        "clientId": "billing",
        "clientHost": "/10.0.0.7",
        "principal": "User:billing",
        "body": body,
    }
    return json.dumps(event, separators=(",", ":")).encode()


def fill(bootstrap_servers: str, topic: str, groups: int, events: int, rounds: int) -> None:
    """Write `rounds` batches, each with `events` commits of each of `groups` groups."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap_servers)
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=bootstrap_servers, linger_ms=50, batch_size=1 << 20)
    for number in range(rounds * events):
        for group in range(groups):
            name = f"group-{group}"
            # The same share of events in each partition, so that batches are equal.
            partition = group % PARTITIONS
            producer.send(topic, key=name.encode(), value=commit(name, number), partition=partition)
    producer.close()


def batch_seconds(
    spark: SparkSession,
    job: JobSettings,
    topic: str,
    function: Callable[[DataFrame], DataFrame],
    rounds: int,
) -> list[float]:
    """How long each batch of the topic takes; the first one warms up and does not count."""
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", job.bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", BATCH_EVENTS)
        .load()
    )
    # State stores may still be at their maintenance when the query has ended.
    with TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
        query = (
            function(pack(records, settings.load().coordinator.event_max_bytes))
            .writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .trigger(processingTime="0 seconds")
            .start()
        )
        try:
            full: list[float] = []
            while len(full) <= rounds:
                if not query.isActive:
                    raise RuntimeError(query.exception())
                query.awaitTermination(1)
                progress = [p for p in query.recentProgress if p["numInputRows"] == BATCH_EVENTS]
                full = [p["durationMs"]["addBatch"] / 1000 for p in progress]
        finally:
            query.stop()
    return full[1 : rounds + 1]


def job_function(
    coordinator: settings.Settings, topic: str, exchange: Exchange
) -> Callable[[DataFrame], DataFrame]:
    """The coordinator as the job runs it."""
    context = UpdateContext(
        coordinator.coordinator, topic, coordinator.job.timer_slack_ms, timers_suspended=False
    )
    return lambda events: coordinate(events, context, exchange)


def compare(
    spark: SparkSession, chosen: settings.Settings, shape: tuple[int, int], rounds: int
) -> dict[str, Any]:
    """One row of the table: the job both ways and the identity function over the same topic, in turns."""
    groups, events = shape
    topic = f"events-{groups}-{events}"
    fill(chosen.job.bootstrap_servers, topic, groups, events, rounds + 1)
    functions = {
        "stock": job_function(chosen, topic, "stock"),
        "lean": job_function(chosen, topic, "lean"),
        "identity": identity,
    }
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(TURNS):
        for name, function in functions.items():
            seconds[name] += batch_seconds(spark, chosen.job, topic, function, rounds)
    medians = {name: statistics.median(batches) for name, batches in seconds.items()}
    return {
        "groups": groups,
        "events_per_group": events,
        "events_per_second": {
            name: round(BATCH_EVENTS / median) for name, median in medians.items()
        },
        "time_ratio": {
            name: round(medians[name] / medians["identity"], 2) for name in ("stock", "lean")
        },
        "batch_seconds": seconds,
    }


def main() -> None:
    """Print the table and, behind it, everything as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="counted batches a run (two runs each)"
    )
    parser.add_argument("--shape", type=int, choices=range(len(SHAPES)), help="only this shape")
    arguments = parser.parse_args()
    shapes = SHAPES if arguments.shape is None else [SHAPES[arguments.shape]]
    say = Console(stderr=True).print
    say("The core alone ...")
    core = commits_per_second()
    with EmbeddedBroker() as broker, scratch_folder() as scratch:
        chosen = settings.load(overrides=[f"bootstrap.servers={broker.bootstrap_servers}"])
        spark = local_session(chosen.job, spark_jars(), scratch)
        spark.sparkContext.setLogLevel("OFF")  # queries are stopped in the middle of an idle batch
        results = []
        for shape in shapes:
            say(f"{shape[0]:,} groups x {shape[1]:,} events ...")
            results.append(compare(spark, chosen, shape, arguments.rounds))
        spark.stop()
    table = Table(title="Events per second (offset commits; every one logged and answered)")
    for heading in ("groups x events", "job, stock", "job, lean", "identity", "stock", "lean"):
        table.add_column(heading, justify="right")
    for row in results:
        table.add_row(
            f"{row['groups']:,} x {row['events_per_group']:,}",
            *(f"{row['events_per_second'][name]:,}" for name in ("stock", "lean", "identity")),
            *(f"{row['time_ratio'][name]} x" for name in ("stock", "lean")),
        )
    Console().print(table)
    Console().print(f"Core alone, one thread: {core:,} offset commits/s")
    document = {
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
        "core_commits_per_second": core,
        "shapes": results,
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
