"""How long a rebuild takes: with the whole log to read, and with a snapshot and the log behind it.

    python -m tests.benchmarks.rebuild [--rows 1000000] [--behind 10000]
    python -m tests.benchmarks.rebuild --groups 20000

The log has commits of 100,000 offsets, written over and over; the last ones come after the snapshot. With --groups: how long
it takes to have another number of state partitions, where Spark divides the state, and by a rebuild from the log. The run that
follows, with one event, counts: a rebuild leaves it the work of loading all groups.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka import KafkaProducer
from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.clients.cluster.topics import offsets_present
from group_coordinator.driver.coordinator import RunOptions, run_coordinator
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.rebuild.rebuild import rebuild, repartition
from group_coordinator.streaming.rebuild.snapshots import take_snapshot
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import create_tables
from tests.benchmarks.compaction import log_rows
from tests.benchmarks.measured import show

OFFSETS = 100_000
NO_EVENTS = {0: range(1)}


def write(spark: SparkSession, job: JobSettings, batch_id: int, rows: int) -> None:
    """A batch of commits, spread over the offsets."""
    numbers = spark.range(rows).selectExpr(f"id % {OFFSETS} AS number")
    writer = log_rows(numbers, batch_id, job.cluster_id).write.format("delta").mode("append")
    TableCatalog(job.tables_root).save(writer, COORDINATOR_LOG.name)


def seconds_of_a_rebuild(spark: SparkSession, job: JobSettings) -> float:
    """From a checkpoint that is lost."""
    coordinator_folder(spark, job).remove_all()
    begun_s = time.monotonic()
    assert rebuild(spark, job, NO_EVENTS).origin.groups
    return round(time.monotonic() - begun_s, 1)


def run(rows: int, behind: int) -> Mapping[str, float]:
    """One run from empty tables."""
    with TemporaryDirectory() as folder, scratch_folder() as scratch:
        root = Path(folder)
        places = (f"tables.root={root}/tables", f"checkpoint.location={root}/checkpoint")
        job = settings.load(overrides=places).job
        spark = local_session(job, spark_jars(), scratch)
        create_tables(job.tables_root, lambda: spark)
        write(spark, job, 0, behind)
        seconds_of_a_rebuild(spark, job)  # warms up
        batches = -(-rows // OFFSETS)
        for batch_id in range(1, batches + 1):
            write(spark, job, batch_id, rows // batches)
        write(spark, job, batches + 1, behind)
        figures = {"whole_log_s": seconds_of_a_rebuild(spark, job)}
        begun_s = time.monotonic()
        take_snapshot(spark, job)
        figures["snapshot_s"] = round(time.monotonic() - begun_s, 1)
        figures["from_the_snapshot_s"] = seconds_of_a_rebuild(spark, job)
        spark.stop()
    return {"rows": rows, "rows_behind_the_snapshot": behind, **figures}


def divide(groups: int) -> Mapping[str, float]:
    """From 2 state partitions to 4, both ways, with a real job before and after."""
    with TemporaryDirectory() as root, scratch_folder() as scratch, EmbeddedBroker() as broker:
        given = (
            *(f"tables.root={root}/tables", f"checkpoint.location={root}/checkpoint"),
            *(f"bootstrap.servers={broker.bootstrap_servers}", "shuffle.partitions=2"),
        )
        chosen = settings.load(overrides=given)
        job, connection = chosen.job, Connection(broker.bootstrap_servers)
        spark = local_session(job, spark_jars(), scratch)
        create_topics(connection, job)
        create_tables(job.tables_root, lambda: spark)
        figures: dict[str, float] = {"groups": groups}
        seconds_of_a_run(spark, chosen, groups)
        begun_s = time.monotonic()
        repartition(spark, job, 4)
        figures["repartition_s"] = round(time.monotonic() - begun_s, 1)
        figures["run_after_it_s"] = seconds_of_a_run(spark, chosen, 1)
        coordinator_folder(spark, job).remove_all()
        begun_s = time.monotonic()
        rebuild(spark, job, offsets_present(connection, job.events_topic), 4)
        figures["rebuild_s"] = round(time.monotonic() - begun_s, 1)
        figures["run_after_that_s"] = seconds_of_a_run(spark, chosen, 1)
        spark.stop()
    return figures


def seconds_of_a_run(spark: SparkSession, chosen: Settings, groups: int) -> float:
    """Until a commit of each group is answered."""
    partition = {"partitionIndex": 0, "committedOffset": 1}
    topics = [{"name": "orders", "partitions": [partition]}]
    with closing(KafkaProducer(bootstrap_servers=chosen.job.bootstrap_servers)) as producer:
        for group in (f"group-{number}" for number in range(groups)):
            body = {"groupId": group, "topics": topics}
            event = json.encode({"api": "OffsetCommit", "version": 8, "body": body})
            producer.send(chosen.job.events_topic, key=group.encode(), value=event)
    begun_s = time.monotonic()
    run_coordinator(
        chosen,
        lambda: spark,
        RunOptions(drain=True, with_compaction=False, progress_file=None),
    )
    return round(time.monotonic() - begun_s, 1)


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--behind", type=int, default=10_000)
    parser.add_argument("--groups", type=int)
    chosen = parser.parse_args()
    if chosen.groups:
        show("Another number of state partitions", divide(chosen.groups))
    else:
        show("Rebuild", run(chosen.rows, chosen.behind))


if __name__ == "__main__":
    main()
