"""Snapshots of all groups, so that a rebuild reads days of the log and not years.

A snapshot is made of the last snapshot and the later rows of the log. It ends before the log's last batch: all rows of an earlier
batch are in the tables. A failed snapshot is retried after a pause, which doubles with every failure in a row, up to the interval.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs import snapshots
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.rebuild.rebuilt_groups import (
    STATES,
    farthest,
    groups_after,
    is_mirrored,
    progress_after,
    states,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import first_claimed_ms, newest_claim
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.state_tables import SNAPSHOTS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Extent of a snapshot: its last batch, and the offsets handled by then. The default is an empty snapshot."""

    batch_id: int = -1
    taken_ms: int = 0
    handled: Mapping[int, int] = field(default_factory=dict)


def newest_snapshot(spark: SparkSession, job: JobSettings) -> Snapshot:
    """Return the cluster's snapshot; a snapshot of a later version of the program, or of another topic, does not count."""
    about_all = (
        _of_cluster(spark, job)
        .where(F.col("group_id").isNull() & (F.col("layout") <= snapshots.SCHEMA_VERSION))
        .where(F.col("events_topic") == job.events_topic)
        .select("batch_id", F.unix_millis("taken_at").alias("taken_ms"), "handled")
        .collect()
    )
    if not about_all:
        return Snapshot()
    row = max(about_all, key=attrgetter("batch_id"))
    return Snapshot(row.batch_id, row.taken_ms, row.handled)


def take_snapshot(spark: SparkSession, job: JobSettings) -> Snapshot:
    """Replace the cluster's snapshot by a snapshot up to the log's last but one batch; return the present snapshot.

    A mirrored cluster has none, as no coordinator continues from it. The topic is that of the cluster's owner: compaction itself may
    have another setting.
    """
    owner = newest_claim(spark, TableCatalog(job.tables_root), job.cluster_id)
    if owner is not None:
        job = replace(job, events_topic=owner.events_topic)
    before = newest_snapshot(spark, job)
    if is_mirrored(spark, job, before.batch_id):
        return before
    # The last batch may have reached only the log: its dead letters may still be missing.
    last_batch_id = _last_batch(spark, job, before) - 1
    if last_batch_id <= before.batch_id:
        return before
    progress = progress_after(spark, job, before.batch_id, last_batch_id)
    taken = Snapshot(last_batch_id, _now_ms(), farthest(before.handled, progress.handled))
    groups = groups_after(spark, job, before.batch_id, last_batch_id)
    _replace(spark, job, taken, groups.mapInPandas(states, STATES))
    return taken


def _replace(spark: SparkSession, job: JobSettings, taken: Snapshot, groups: DataFrame) -> None:
    columns = (F.col(field.name).cast(field.dataType) for field in SNAPSHOTS.schema)
    about_all = spark.createDataFrame(
        [(None, None, job.events_topic, dict(taken.handled))],
        "group_id STRING, state BINARY, events_topic STRING, handled MAP<INT, BIGINT>",
    )
    rows = groups.unionByName(about_all, allowMissingColumns=True).withColumns(
        {
            "cluster_id": F.lit(job.cluster_id),
            "batch_id": F.lit(taken.batch_id),
            "layout": F.lit(snapshots.SCHEMA_VERSION),
            "taken_at": F.timestamp_millis(F.lit(taken.taken_ms)),
        }
    )
    # replaceWhere is a text of SQL, so the id is escaped by hand.
    cluster = job.cluster_id.replace("\\", "\\\\").replace("'", "\\'")
    writer = (
        rows.select(*columns)
        .write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", f"cluster_id = '{cluster}'")
    )
    TableCatalog(job.tables_root).save(writer, SNAPSHOTS.name)


def _of_cluster(spark: SparkSession, job: JobSettings) -> DataFrame:
    rows = TableCatalog(job.tables_root).read(spark, SNAPSHOTS.name)
    return rows.where(F.col("cluster_id") == job.cluster_id)


def _last_batch(spark: SparkSession, job: JobSettings, after: Snapshot) -> int:
    log = TableCatalog(job.tables_root).read(spark, COORDINATOR_LOG.name)
    later = (F.col("cluster_id") == job.cluster_id) & (F.col("batch_id") > after.batch_id)
    last = log.where(later).agg(F.max("batch_id").alias("batch_id")).collect()[0].batch_id
    return -1 if last is None else int(last)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


# A failed snapshot has read the log in vain, so a retry may wait for the cause to pass.
_FIRST_PAUSE_MS = 60_000

_log = logging.getLogger(__name__)


class SnapshotTime:
    """Schedule that is checked after each batch of compaction: on a local disk no other thread may write the table meanwhile."""

    def __init__(self, spark: SparkSession, job: JobSettings) -> None:
        self._spark = spark
        self._job = job
        self._due_ms: int | None = None
        self._failures = 0
        """Failures in a row."""

    def look(self) -> None:
        """Take a snapshot if it is due."""
        interval_ms = self._job.snapshot_interval_ms
        if not interval_ms:
            return
        try:
            self._take_if_time(interval_ms)
        except (PySparkException, Py4JError) as failure:
            self._failures += 1
            pause_ms = pause_after(self._failures, interval_ms)
            self._due_ms = _now_ms() + pause_ms
            reason = (str(failure) or type(failure).__name__).splitlines()[0]
            _log.error(
                "the snapshot failed, so a rebuild would read more of the log; it is tried again in %d s: %s",
                pause_ms // 1000,
                reason,
            )

    def _take_if_time(self, interval_ms: int) -> None:
        if self._due_ms is None:
            # From the tables and not from the start, so that short runs take snapshots too.
            self._due_ms = self._begun_ms() + interval_ms
            _log.debug("snapshot: due_in_ms=%d", self._due_ms - _now_ms())
        if _now_ms() >= self._due_ms:
            taken = take_snapshot(self._spark, self._job)
            self._failures = 0
            self._due_ms = _now_ms() + interval_ms
            if taken.taken_ms:
                _log.info("snapshot: a rebuild would begin after batch %d", taken.batch_id)

    def _begun_ms(self) -> int:
        snapshot = newest_snapshot(self._spark, self._job)
        catalog = TableCatalog(self._job.tables_root)
        claimed_ms = first_claimed_ms(self._spark, catalog, self._job.cluster_id)
        return snapshot.taken_ms or claimed_ms or _now_ms()


def pause_after(failures: int, interval_ms: int) -> int:
    """Return the milliseconds until the retry after this number of failures in a row, from 1."""
    return min(_FIRST_PAUSE_MS << (failures - 1), interval_ms)
