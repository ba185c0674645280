"""What compaction costs in large tables: 10,000 changed offsets into a table of 1,000,000, while the log grows.

    python -m tests.benchmarks.compaction [--offsets 1000000] [--changed 10000] [--stretches 10] [--small 400]

The compaction query runs as in the job; the log is written here. First come all offsets, then the stretches, whose
batches are timed: the first ones and the last ones should take the same time. Many small stretches follow, with their
maintenance (tables/maintenance.py); at the end the files are counted, which must not grow with the number of stretches.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress
from rich.console import Console

from group_coordinator import settings
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.settings import Settings
from group_coordinator.streaming.compaction_query import QUERY_NAME, CompactionQuery
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import TABLES, create_tables
from tests.benchmarks.measured import show

OFFSETS_A_GROUP = 10
TIMEOUT_S = 1_800
SMALL = 10
"""Offsets that a small stretch changes."""


def log_rows(numbers: DataFrame, batch_id: int, cluster_id: str) -> DataFrame:
    """A commit for each number: of the group and the partition that it belongs to, with the batch as its offset."""
    group = F.format_string("group-%07d", (F.col("number") / OFFSETS_A_GROUP).cast("int"))
    partition = (F.col("number") % OFFSETS_A_GROUP).cast("int")
    key = F.format_string(
        '{"type":1,"data":{"group":"%s","topic":"orders","partition":%d}}', group, partition
    )
    value = '{"version":4,"data":{"offset":%d,"leaderEpoch":-1,"metadata":"","commitTimestamp":%d}}'
    now_ms = F.unix_millis(F.current_timestamp())
    batch = F.lit(batch_id).cast("long")
    given = {
        "cluster_id": F.lit(cluster_id),
        "group_id": group,
        "record_type": F.lit(1),
        "key": key,
        "value": F.format_string(value, batch, now_ms),
        "topic": F.lit("orders"),
        "partition": partition,
        "offset": batch,
        "reason": F.lit("offset-commit"),
        "event_time": F.current_timestamp(),
        "batch_id": batch,
        "seq": partition,
        "ingested_at": F.current_timestamp(),
    }
    return numbers.select(
        *(
            given.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
            for field in COORDINATOR_LOG.schema
        )
    )


class GrowingLog:
    """Writes stretches of the log, and waits until they are compacted."""

    def __init__(
        self, spark: SparkSession, chosen: Settings, offsets: int, compacts: Thread
    ) -> None:
        self._spark = spark
        self._compacts = compacts
        self._catalog = TableCatalog(chosen.job.tables_root)
        self._cluster_id = chosen.job.cluster_id
        self._offsets = offsets
        self._batches = 0
        self._compacted: dict[int, float] = {}

    def append(self, count: int) -> float:
        """Change so many offsets, spread evenly; the seconds that their compaction took."""
        step = self._offsets // count
        number = (F.col("id") * step + self._batches) % self._offsets
        rows = self._spark.range(count).select(number.alias("number"))
        writer = (
            log_rows(rows, self._batches, self._cluster_id).write.format("delta").mode("append")
        )
        self._catalog.save(writer, COORDINATOR_LOG.name)
        self._batches += 1
        return self._seconds_of_compaction(count)

    def _seconds_of_compaction(self, count: int) -> float:
        deadline_s = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline_s and self._compacts.is_alive():
            for progress in self._progress():
                # A long stretch is read more than once.
                if progress.numInputRows >= count and progress.batchId not in self._compacted:
                    self._compacted[progress.batchId] = progress.durationMs["addBatch"] / 1_000
                    return self._compacted[progress.batchId]
            time.sleep(0.05)
        raise RuntimeError(f"{count} rows are not compacted")

    def _progress(self) -> list[StreamingQueryProgress]:
        """Of the compaction query; nothing before it has started."""
        active = [query for query in self._spark.streams.active if query.name == QUERY_NAME]
        return [progress for query in active for progress in query.recentProgress]

    def files(self) -> dict[str, int]:
        """How many files each table's folder holds, and its Delta log."""
        counts = {}
        for table in TABLES:
            folder = self._catalog.local_folder(table.name)
            assert folder is not None
            counts[f"{table.name}_files"] = len(list(folder.rglob("*.parquet")))
            counts[f"{table.name}_commits"] = len(list(folder.glob("_delta_log/*.json")))
        return counts


def run(offsets: int, changed: int, stretches: int, small: int) -> Mapping[str, float]:
    """One run from empty tables."""
    with TemporaryDirectory() as folder, scratch_folder() as scratch:
        root = Path(folder)
        chosen = settings.load(
            overrides=[
                f"tables.root={root / 'tables'}",
                f"checkpoint.location={root / 'checkpoint'}",
                "compaction.interval.ms=100",
            ]
        )
        spark = local_session(chosen.job, spark_jars(), scratch)
        create_tables(chosen.job.tables_root, lambda: spark)
        over = Event()
        beside = Thread(target=CompactionQuery(spark, chosen).run, args=[over])
        beside.start()
        log = GrowingLog(spark, chosen, offsets, beside)
        result = {f"first_{offsets}_offsets_s": log.append(offsets)}
        result |= _stretches(log, changed, stretches)
        result[f"{SMALL}_changes_s"] = _median([log.append(SMALL) for _ in range(small)])
        result |= log.files()
        over.set()
        beside.join()
        spark.stop()
    return result


def _stretches(log: GrowingLog, changed: int, stretches: int) -> dict[str, float]:
    say = Console(stderr=True).print
    seconds = []
    for number in range(stretches):
        seconds.append(log.append(changed))
        say(f"stretch {number + 1} of {stretches}: {seconds[-1]} s")
    half = stretches // 2
    return {
        f"{changed}_changes_s_first_half": _median(seconds[:half]),
        f"{changed}_changes_s_second_half": _median(seconds[half:]),
    }


def _median(seconds: list[float]) -> float:
    return round(statistics.median(seconds), 3)


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--offsets", type=int, default=1_000_000, help="in the table")
    parser.add_argument("--changed", type=int, default=10_000, help="offsets a stretch")
    parser.add_argument("--stretches", type=int, default=10)
    parser.add_argument("--small", type=int, default=400, help=f"stretches of {SMALL} offsets")
    arguments = parser.parse_args()
    result = run(arguments.offsets, arguments.changed, arguments.stretches, arguments.small)
    show("Compaction", result)


if __name__ == "__main__":
    main()
