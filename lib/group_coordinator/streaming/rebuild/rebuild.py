"""A lost checkpoint is made anew from the newest snapshot and from what coordinator_log has got since.

Spark's stateful operator takes no initial state, so groups get theirs as input: a seed each, in files in the checkpoint,
a second source beside Kafka. All seeds are in the first batch, where each sorts before its group's events
(runtime/packing.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import (
    GROUPS,
    Origin,
    coordinator_folder,
    has_begun,
    write_origin,
)
from group_coordinator.streaming.checkpoint.ownership import CheckpointError, take_over
from group_coordinator.streaming.rebuild.log_after import (
    farthest,
    groups_after,
    is_mirrored,
    progress_after,
)
from group_coordinator.streaming.rebuild.rebuilt_groups import seeds
from group_coordinator.streaming.rebuild.snapshots import newest_snapshot
from group_coordinator.streaming.rebuild.starting_offsets import starting_offsets
from group_coordinator.streaming.source import PACKED


class Rebuilt(NamedTuple):
    """The result of a rebuild; `handled` is the last event of a partition that left something in the tables."""

    origin: Origin
    handled: Mapping[int, int]


def rebuild(
    spark: SparkSession,
    job: JobSettings,
    present: Mapping[int, range],
    partitions: int | None = None,
) -> Rebuilt:
    """Make a checkpoint from which `run` goes on; may be repeated until it has.

    From here on no other checkpoint writes the cluster's rows: the run of one that still does ends.

    Args:
        spark: the session.
        job: where tables and checkpoint are.
        present: the offsets that the events topic holds, by partition.
        partitions: how many the state shall have; None: as many as the session says that runs first.

    Raises:
        CheckpointError: a checkpoint exists, or there is nothing to make one from, or another coordinator's log.
        ForeignLogError: the log was written from another topic.
    """
    folder = coordinator_folder(spark, job)
    if has_begun(folder):
        raise CheckpointError(
            f"{folder.location} is a checkpoint: nothing is rebuilt. If it is of no use any more, end the job and "
            "take the folder away first"
        )
    snapshot = newest_snapshot(spark, job)
    if is_mirrored(spark, job, snapshot.batch_id):
        raise CheckpointError(
            f"cluster.id = {job.cluster_id} has records that were mirrored from another coordinator: there is no checkpoint to "
            "rebuild, `group-coordinator mirror` goes on by itself; give the cluster.id of a cluster that `run` writes"
        )
    progress = progress_after(spark, job, snapshot.batch_id)
    if max(snapshot.batch_id, progress.batch_id) < 0:
        raise CheckpointError(
            f"tables.root = {job.tables_root} has nothing of cluster.id = {job.cluster_id}: there is nothing to "
            "rebuild, `run` begins with the first event"
        )
    handled = farthest(snapshot.handled, progress.handled)
    starting_offsets(job.events_topic, handled, present)  # may refuse
    take_over(spark, job)  # before the log is read: from now on nobody else appends to it
    while (rebuilt := _rebuilt(spark, job, present)) is None:
        pass
    rebuilt = rebuilt._replace(origin=replace(rebuilt.origin, partitions=partitions))
    write_origin(folder, rebuilt.origin)
    return rebuilt


def _rebuilt(spark: SparkSession, job: JobSettings, present: Mapping[int, range]) -> Rebuilt | None:
    """Write the groups' seeds; None: a compaction took another snapshot meanwhile, and its rows may have been read in part."""
    snapshot = newest_snapshot(spark, job)
    progress = progress_after(spark, job, snapshot.batch_id)
    handled = farthest(snapshot.handled, progress.handled)
    last_batch_id = max(snapshot.batch_id, progress.batch_id)
    starts = starting_offsets(job.events_topic, handled, present)
    groups = coordinator_folder(spark, job).address(GROUPS)
    behind = groups_after(spark, job, snapshot.batch_id)
    behind.mapInPandas(seeds, PACKED).write.mode("overwrite").parquet(groups)
    if newest_snapshot(spark, job) != snapshot:
        return None
    count = spark.read.schema(PACKED).parquet(groups).count()
    return Rebuilt(Origin(last_batch_id + 1, starts, count), handled)
