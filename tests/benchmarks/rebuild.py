"""How long a rebuild takes: with the whole log to read, and with a snapshot and the log behind it.

    python -m tests.benchmarks.rebuild [--rows 1000000] [--behind 10000]

The log has commits of 100,000 offsets, written over and over; the last ones come after the snapshot.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.local.jars import spark_jars
from group_coordinator.local.scratch import scratch_folder
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.rebuild.rebuild import rebuild
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
    assert rebuild(spark, job, NO_EVENTS).groups
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


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--behind", type=int, default=10_000)
    chosen = parser.parse_args()
    show("Rebuild", run(chosen.rows, chosen.behind))


if __name__ == "__main__":
    main()
