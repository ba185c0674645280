"""From the events topic to responses and the log: the job beside its floors, in one run.

    python -m tests.benchmarks.end_to_end [--shape 0|1|2] [--rounds 3] [--turns 2]

The floors are the operator alone, whose output is thrown away, and two pipelines of Spark's own without Python and state
(pipelines.py): one writes as the job does, the other as the documentation of Spark and Delta says. All read the same topic
with the same source in one session, in turns; a batch has each group's events once. The time of a batch is Spark's own, from the first look at the topic to the commit in the checkpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import confluent_kafka
from kafka.admin import KafkaAdminClient, NewTopic
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Column, Table

from group_coordinator import settings
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.settings import Settings
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.creation import create_tables
from tests.benchmarks.end_to_end.pipelines import (
    Start,
    start_documented_pipeline,
    start_job,
    start_operator,
    start_stock_pipeline,
)
from tests.benchmarks.throughput import commit

SHAPES = ((10_000, 5), (10_000, 30), (100, 3_000))
"""Groups, and events of each in a batch."""
PARTITIONS = 2
PIPELINES: Mapping[str, Start] = {
    "job": start_job,
    "operator": start_operator,
    "stock": start_stock_pipeline,
    "documented": start_documented_pipeline,
}
FLOORS = tuple(PIPELINES)[1:]
_PATIENCE_S = 300
_say = Console(stderr=True).print


def fill(bootstrap_servers: str, topic: str, shape: tuple[int, int], batches: int) -> None:
    """Commits: each group's events of a batch, and then those of the next one."""
    groups, events = shape
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        admin.create_topics([NewTopic(topic, PARTITIONS, 1)])
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": bootstrap_servers, "linger.ms": 50, "compression.type": "lz4"}
    )
    for number in range(batches * events):
        for group in range(groups):
            name = f"group-{group}"
            # As many events in each partition, so that batches are equal.
            producer.produce(topic, commit(name, number), name, partition=group % PARTITIONS)
            if group % 1_000 == 0:
                producer.poll(0.05 if len(producer) > 50_000 else 0)
    producer.flush(_PATIENCE_S)


def seconds_of_batches(
    spark: SparkSession, chosen: Settings, start: Start, events: int, rounds: int
) -> list[float]:
    """How long each batch takes; the first one does not count."""
    query = start(spark, chosen)
    try:
        full: list[float] = []
        while len(full) <= rounds:
            query.awaitTermination(1)  # raises what made it fail
            progress = [p for p in query.recentProgress if p["numInputRows"] == events]
            full = [p["durationMs"]["triggerExecution"] / 1000 for p in progress]
    finally:
        query.stop()
    return full[1 : rounds + 1]


def compare(
    spark: SparkSession, bootstrap_servers: str, shape: tuple[int, int], rounds: int, turns: int
) -> dict[str, float]:
    """The median seconds of a batch, by pipeline."""
    topic, events = f"events-{shape[0]}-{shape[1]}", shape[0] * shape[1]
    fill(bootstrap_servers, topic, shape, rounds + 1)
    seconds: dict[str, list[float]] = {name: [] for name in PIPELINES}
    for turn in range(turns):
        for name, start in PIPELINES.items():
            with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                chosen = chosen_settings(bootstrap_servers, topic, events, Path(folder))
                create_tables(chosen.job.tables_root, lambda: spark)
                found = seconds_of_batches(spark, chosen, start, events, rounds)
            _say(f"turn {turn + 1}, {name}: {found}")
            seconds[name] += found
    return {name: statistics.median(found) for name, found in seconds.items()}


def chosen_settings(bootstrap_servers: str, topic: str, events: int, folder: Path) -> Settings:
    """A job of its own in this folder, whose batches have so many events."""
    return settings.load(
        overrides=[
            f"bootstrap.servers={bootstrap_servers}",
            f"events.topic={topic}",
            f"max.offsets.per.trigger={events}",
            f"tables.root={folder}/tables",
            f"checkpoint.location={folder}/checkpoint",
            "trigger.interval.ms=1",
        ]
    )


@contextmanager
def session_beside_a_broker() -> Iterator[tuple[SparkSession, str]]:
    """Spark as the job has it, and the address of a broker that has the responses topic."""
    with EmbeddedBroker() as broker, scratch_folder() as scratch:
        servers = broker.bootstrap_servers
        responses = settings.load().job.responses_topic
        with KafkaAdminClient(bootstrap_servers=servers) as admin:
            admin.create_topics([NewTopic(responses, PARTITIONS, 1)])
        first = settings.load(overrides=[f"bootstrap.servers={servers}"]).job
        spark = local_session(first, spark_jars(), scratch)
        spark.sparkContext.setLogLevel("OFF")  # queries are stopped in the middle of an idle batch
        try:
            yield spark, servers
        finally:
            spark.stop()


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shape", type=int, choices=range(len(SHAPES)), help="only this shape")
    parser.add_argument("--rounds", type=int, default=3, help="counted batches a turn")
    parser.add_argument("--turns", type=int, default=2)
    chosen = parser.parse_args()
    shapes = SHAPES if chosen.shape is None else [SHAPES[chosen.shape]]
    with session_beside_a_broker() as (spark, servers):
        results = []
        for shape in shapes:
            _say(f"{shape[0]:,} groups x {shape[1]:,} events ...")
            medians = compare(spark, servers, shape, chosen.rounds, chosen.turns)
            results.append(_row(shape, medians))
    _show(results)


def _row(shape: tuple[int, int], medians: Mapping[str, float]) -> dict[str, float]:
    events = shape[0] * shape[1]
    rates = {f"{name}_events_per_second": round(events / s) for name, s in medians.items()}
    ratios = {f"times_{name}": round(medians["job"] / medians[name], 2) for name in FLOORS}
    return {"groups": shape[0], "events_per_group": shape[1], **rates, **ratios}


def _show(results: list[dict[str, float]]) -> None:
    headings = ("groups x events", *PIPELINES, *(f"job : {name}" for name in FLOORS))
    table = Table(
        *(Column(heading, justify="right") for heading in headings), title="Events per second"
    )
    for row in results:
        table.add_row(
            f"{row['groups']:,} x {row['events_per_group']:,}",
            *(f"{row[f'{name}_events_per_second']:,}" for name in PIPELINES),
            *(f"{row[f'times_{name}']} x" for name in FLOORS),
        )
    Console().print(table)
    document = {"cores": os.cpu_count(), "python": sys.version.split()[0], "shapes": results}
    print(json.dumps(document))


if __name__ == "__main__":
    main()
