"""A lost checkpoint is made anew from coordinator_log.

Spark's stateful operator takes no initial state, so groups get theirs as input: a seed each, in files in the checkpoint,
a second source beside Kafka. All seeds are in the first batch, where each sorts before its group's events
(runtime/packing.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs.records.record_types import RECORD_TYPES
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import (
    GROUPS,
    Origin,
    coordinator_folder,
    has_begun,
    write_origin,
)
from group_coordinator.streaming.checkpoint.ownership import WRITTEN, CheckpointError, take_over
from group_coordinator.streaming.rebuild.rebuilt_groups import COLUMNS, rebuilt_groups
from group_coordinator.streaming.rebuild.starting_offsets import starting_offsets
from group_coordinator.streaming.source import PACKED
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG


class Rebuilt(NamedTuple):
    """The result of a rebuild; `handled` is the last event of a partition that left something in the tables."""

    groups: int
    origin: Origin
    handled: Mapping[int, int]


def rebuild(spark: SparkSession, job: JobSettings, present: Mapping[int, range]) -> Rebuilt:
    """Make a checkpoint from which `run` goes on; may be repeated until it has.

    From here on no other checkpoint writes the cluster's rows: the run of one that still does ends.

    Args:
        spark: the session.
        job: where tables and checkpoint are.
        present: the offsets that the events topic holds, by partition.

    Raises:
        CheckpointError: a checkpoint exists, or there is nothing to make one from.
        ForeignLogError: the log was written from another topic.
    """
    folder = coordinator_folder(spark, job)
    if has_begun(folder):
        raise CheckpointError(
            f"{folder.location} is a checkpoint: nothing is rebuilt. If it is of no use any more, end the job and "
            "take the folder away first"
        )
    if _written(spark, job).isEmpty():
        raise CheckpointError(
            f"tables.root = {job.tables_root} has nothing of cluster.id = {job.cluster_id}: there is nothing to "
            "rebuild, `run` begins with the first event"
        )
    starting_offsets(job.events_topic, _progress(spark, job)[0], present)  # may refuse
    take_over(spark, job)  # before the log is read: from now on nobody else appends to it
    handled, last_batch_id = _progress(spark, job)
    origin = Origin(last_batch_id + 1, starting_offsets(job.events_topic, handled, present))
    groups = folder.address(GROUPS)
    _groups(spark, job).write.mode("overwrite").parquet(groups)
    write_origin(folder, origin)
    return Rebuilt(spark.read.schema(PACKED).parquet(groups).count(), origin, handled)


def _written(spark: SparkSession, job: JobSettings) -> DataFrame:
    """Batch and source of everything that the coordinator has written."""
    catalog = TableCatalog(job.tables_root)
    tables = [
        catalog.read(spark, table.name)
        .where(F.col("cluster_id") == job.cluster_id)
        .select("batch_id", "source_topic", "source_partition", "source_offset")
        for table in WRITTEN
    ]
    return reduce(DataFrame.union, tables)


def _progress(spark: SparkSession, job: JobSettings) -> tuple[dict[int, int], int]:
    """The last handled offset of each partition, and the last batch."""
    rows = (
        _written(spark, job)
        .groupBy("source_topic", "source_partition")
        .agg(F.max("source_offset").alias("offset"), F.max("batch_id").alias("batch_id"))
        .collect()
    )
    # A deadline has no partition.
    handled = {
        row["source_partition"]: row["offset"]
        for row in rows
        if row["source_topic"] == job.events_topic and row["source_partition"] is not None
    }
    return handled, max(row["batch_id"] for row in rows)


def _groups(spark: SparkSession, job: JobSettings) -> DataFrame:
    """One row a group that exists, as source.py reads them."""
    return (
        TableCatalog(job.tables_root)
        .read(spark, COORDINATOR_LOG.name)
        .where((F.col("cluster_id") == job.cluster_id) & F.col("record_type").isin(*RECORD_TYPES))
        .withColumn("event_time_ms", F.unix_millis("event_time"))
        .repartition("group_id")
        .sortWithinPartitions("group_id", "batch_id", "seq")
        .select(*COLUMNS)
        .mapInPandas(rebuilt_groups, PACKED)
    )
