"""What the tables say of the batches behind a snapshot, up to one of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs.records.record_types import RECORD_TYPES
from group_coordinator.core.model.records import Reason
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.ownership import WRITTEN
from group_coordinator.streaming.rebuild.rebuilt_groups import COLUMNS
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.snapshots import SNAPSHOTS

LAST = 2**63 - 1
"""A batch behind all that there are."""


class Progress(NamedTuple):
    """The last event of each partition that left something in the tables, and the last batch; -1: there is none."""

    handled: Mapping[int, int]
    batch_id: int


def farthest(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    """Of two offsets of a partition the higher one."""
    return {each: max(one.get(each, -1), other.get(each, -1)) for each in {**one, **other}}


def progress_after(
    spark: SparkSession, job: JobSettings, after: int, until: int = LAST
) -> Progress:
    """What batches behind `after` have left in the tables, up to `until`."""
    catalog = TableCatalog(job.tables_root)
    written = reduce(
        DataFrame.union,
        (
            catalog.read(spark, table.name)
            .where(_of(job, after, until))
            .select("batch_id", "source_topic", "source_partition", "source_offset")
            for table in WRITTEN
        ),
    )
    rows = (
        written.groupBy("source_topic", "source_partition")
        .agg(F.max("source_offset").alias("offset"), F.max("batch_id").alias("batch_id"))
        .collect()
    )
    # A deadline has no partition.
    handled = {
        row["source_partition"]: row["offset"]
        for row in rows
        if row["source_topic"] == job.events_topic and row["source_partition"] is not None
    }
    return Progress(handled, max((row["batch_id"] for row in rows), default=-1))


def is_mirrored(spark: SparkSession, job: JobSettings, after: int) -> bool:
    """Whether batches behind `after` have what another coordinator decided: its groups are none of ours to go on with."""
    log = TableCatalog(job.tables_root).read(spark, COORDINATOR_LOG.name)
    mirrored = log.where(_of(job, after, LAST) & (F.col("reason") == Reason.MIRRORED.value))
    return not mirrored.isEmpty()


def groups_after(spark: SparkSession, job: JobSettings, after: int, until: int = LAST) -> DataFrame:
    """What makes the groups anew, as rebuilt_groups.py reads it: the snapshot that ends with `after`, and the log behind it."""
    catalog = TableCatalog(job.tables_root)
    log = (
        catalog.read(spark, COORDINATOR_LOG.name)
        .where(_of(job, after, until) & F.col("record_type").isin(*RECORD_TYPES))
        .withColumn("event_time_ms", F.unix_millis("event_time"))
        .withColumn("state", F.lit(None).cast("binary"))
        .select(*COLUMNS, "batch_id", "seq")
    )
    rows = log if after < 0 else log.union(_snapshot(spark, job, after))
    return (
        rows.repartition("group_id")
        .sortWithinPartitions("group_id", "batch_id", "seq")
        .select(*COLUMNS)
    )


def _snapshot(spark: SparkSession, job: JobSettings, batch_id: int) -> DataFrame:
    """A group's state sorts before all that the log has got since."""
    absent = {"key": F.lit(None), "value": F.lit(None), "event_time_ms": F.lit(0), "seq": F.lit(0)}
    rows = TableCatalog(job.tables_root).read(spark, SNAPSHOTS.name)
    return (
        rows.where(_of(job, batch_id - 1, batch_id) & F.col("group_id").isNotNull())
        .withColumns(absent)
        .select(*COLUMNS, "batch_id", "seq")
    )


def _of(job: JobSettings, after: int, until: int) -> Column:
    is_later = (F.col("batch_id") > after) & (F.col("batch_id") <= until)
    return (F.col("cluster_id") == job.cluster_id) & is_later
