"""Rebuild of a lost checkpoint from the newest snapshot and the later rows of coordinator_log; repartition of an intact one.

Spark's stateful operator takes no initial state, so each group has a seed, in files in the checkpoint, which are a second source
next to Kafka. All seeds are in the first batch, where each sorts before its group's events (runtime/outputs.py).

Spark 4.2 and later divide an intact checkpoint's state by a batch without events: groups stay as they are. A job that still runs
ends at its next batch, as Spark has written that batch's file by then.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder, DamagedFileError
from group_coordinator.streaming.checkpoint.layout import (
    GROUPS,
    Origin,
    coordinator_folder,
    has_begun,
    last_done_batch,
    last_planned_batch,
    write_origin,
)
from group_coordinator.streaming.checkpoint.ownership import (
    CheckpointError,
    check_may_write,
    take_over,
)
from group_coordinator.streaming.checkpoint.plans import Plans, unended_repartition
from group_coordinator.streaming.rebuild.rebuilt_groups import (
    farthest,
    groups_after,
    is_mirrored,
    progress_after,
    seeds,
)
from group_coordinator.streaming.rebuild.snapshots import newest_snapshot
from group_coordinator.streaming.source import PACKED

_log = logging.getLogger(__name__)


class ForeignLogError(RuntimeError):
    """The log was not written from the present events topic."""


def starting_offsets(
    topic: str, handled: Mapping[int, int], present: Mapping[int, range]
) -> dict[int, int]:
    """Return the offset of the first event to handle, by partition.

    A partition's events are handled in order and a batch reaches the log whole: all events up to the last event with rows have been
    handled. Later events - heartbeats, queries, error responses - are handled again, which repeats their responses.

    Args:
        topic: its name, for the error.
        handled: the last offset with a record or a dead letter, by partition.
        present: the offsets that the topic holds, by partition; retention removes the first offsets.

    Raises:
        ForeignLogError: the log has an event behind the end of the topic, or of a missing partition.
    """
    for partition, offset in sorted(handled.items()):
        end = present[partition].stop if partition in present else 0
        if offset >= end:
            raise ForeignLogError(
                f"events.topic = {topic}: the log has an event of partition {partition}, offset {offset}, but the "
                f"topic ends at {end}: the log was written from another topic"
            )
    return {
        partition: max(handled.get(partition, -1) + 1, offsets.start)
        for partition, offsets in sorted(present.items())
    }


def check_seeds(spark: SparkSession, folder: CheckpointFolder, origin: Origin) -> None:
    """Count the seeds before the first batch, which loads them, because Spark skips empty and missing files.

    Raises DamagedFileError: seeds cannot be read, or their number differs from the rebuild's.
    """
    if origin.groups is None or last_done_batch(folder) >= 0:
        return
    try:
        seeds = spark.read.schema(PACKED).parquet(folder.address(GROUPS))
        present = seeds.where("octet_length(event) > 0").count()
    except Py4JJavaError as error:
        raise _unreadable(folder, error.java_exception.getMessage()) from error
    except PySparkException as error:
        raise _unreadable(folder, str(error)) from error
    if present != origin.groups:
        fault = f"it has {present} groups, and the rebuild wrote {origin.groups}"
        raise folder.damaged(GROUPS, fault)


def _unreadable(folder: CheckpointFolder, said: str) -> DamagedFileError:
    return folder.damaged(GROUPS, said.splitlines()[0])


class Rebuilt(NamedTuple):
    """The result of a rebuild; `handled` is the last event of a partition with rows in the tables."""

    origin: Origin
    handled: Mapping[int, int]


def rebuild(
    spark: SparkSession,
    job: JobSettings,
    present: Mapping[int, range],
    partitions: int | None = None,
) -> Rebuilt:
    """Make a checkpoint from which `run` continues. Safe to repeat until it succeeds. The run of a former owner ends.

    `present` has the offsets that the events topic holds, by partition. `partitions` is the number of state partitions; None: the
    session's number at the first run.

    Raises:
        CheckpointError: a checkpoint exists, the tables have no rows of the cluster, or the log is another coordinator's.
        ForeignLogError: the log was written from another topic.
    """
    folder = coordinator_folder(spark, job)
    if has_begun(folder):
        raise CheckpointError(
            f"{folder.location} is a checkpoint: nothing is rebuilt. If you do not need it, end the job and move "
            "the folder away first"
        )
    snapshot = newest_snapshot(spark, job)
    if is_mirrored(spark, job, snapshot.batch_id):
        raise CheckpointError(
            f"cluster.id = {job.cluster_id} has records that were mirrored from another coordinator: a mirror "
            "needs no rebuild, `group-coordinator mirror` continues by itself; set the cluster.id of a cluster "
            "that `run` writes"
        )
    progress = progress_after(spark, job, snapshot.batch_id)
    if max(snapshot.batch_id, progress.batch_id) < 0:
        raise CheckpointError(
            f"tables.root = {job.tables_root} has no rows of cluster.id = {job.cluster_id}: nothing can be "
            "rebuilt, and `run` begins with the first event"
        )
    handled = farthest(snapshot.handled, progress.handled)
    # Called for its error, before the take-over changes anything.
    starting_offsets(job.events_topic, handled, present)
    # Before the log is read: from now on no other process appends to it.
    take_over(spark, job)
    # A compaction may still replace the snapshot while its rows are read.
    while (rebuilt := _rebuilt(spark, job, present)) is None:
        pass
    rebuilt = rebuilt._replace(origin=replace(rebuilt.origin, partitions=partitions))
    # Last, as the checkpoint counts as rebuilt from here on: a crash before it only repeats the rebuild.
    write_origin(folder, rebuilt.origin)
    return rebuilt


def _rebuilt(spark: SparkSession, job: JobSettings, present: Mapping[int, range]) -> Rebuilt | None:
    """Write the groups' seeds; None: a compaction replaced the snapshot meanwhile, and its rows may be incomplete."""
    snapshot = newest_snapshot(spark, job)
    progress = progress_after(spark, job, snapshot.batch_id)
    handled = farthest(snapshot.handled, progress.handled)
    last_batch_id = max(snapshot.batch_id, progress.batch_id)
    starts = starting_offsets(job.events_topic, handled, present)
    groups = coordinator_folder(spark, job).address(GROUPS)
    batches = snapshot.batch_id, last_batch_id
    _log.debug("rebuild: snapshot_batch=%d last_batch=%d starts=%s", *batches, starts)
    behind = groups_after(spark, job, snapshot.batch_id)
    behind.mapInPandas(seeds, PACKED).write.mode("overwrite").parquet(groups)
    if newest_snapshot(spark, job) != snapshot:
        _log.debug("rebuild: snapshot_batch=%d replaced, begins again", snapshot.batch_id)
        return None
    count = spark.read.schema(PACKED).parquet(groups).count()
    return Rebuilt(Origin(last_batch_id + 1, starts, count), handled)


# PySpark 4.2 has no public name for it.
_CHECKPOINTS = "_streamingCheckpointManager"
_ROCKSDB = ".RocksDBStateStoreProvider"


def repartition(spark: SparkSession, job: JobSettings, partitions: int) -> int:
    """Divide the state of the coordinator's checkpoint and return the former number of partitions.

    Safe to repeat after a crash.
    Raises CheckpointError: the checkpoint must not write the tables, or has an open batch, no batch, or so many partitions
    already; or this Spark cannot do it, or not with this state.
    """
    folder = coordinator_folder(spark, job)
    if not hasattr(spark, _CHECKPOINTS):
        raise CheckpointError(
            f"Spark {spark.version} cannot divide the state in {folder.location}, but 4.2 and later can: use such "
            f"a Spark, or move the checkpoint away and run `rebuild --partitions {partitions}`, which makes it "
            "from the log"
        )
    # A further batch would make an outdated checkpoint look as new as the tables.
    check_may_write(spark, job, lambda: None)
    before = _present_partitions(folder, partitions)
    # Creates the object to which tasks report their state stores.
    _ = spark.streams
    checkpoints: Any = getattr(spark, _CHECKPOINTS)
    checkpoints.repartition(folder.address_in_full, partitions)
    return before


def _present_partitions(folder: CheckpointFolder, partitions: int) -> int:
    """Return the present number of partitions, unless it must not be changed."""
    planned, done = last_planned_batch(folder), last_done_batch(folder)
    plan, unended = Plans(folder).of(done), unended_repartition(folder)
    if planned > done and unended is None:
        raise CheckpointError(
            f"batch {planned} of {folder.location} has not ended: end it by `run --drain` first"
        )
    if plan is None or plan.state_partitions is None:
        raise CheckpointError(
            f"{folder.location} has no batch yet: give `run` the setting shuffle.partitions = {partitions}"
        )
    # Spark would notice it only after it has planned its batch, which then could neither end nor be removed.
    if not plan.state_store.endswith(_ROCKSDB):
        raise CheckpointError(
            f"the state in {folder.location} is of state.store.provider = hdfs, and Spark divides only that of "
            f"rocksdb: move the checkpoint away, and run `rebuild --partitions {partitions}`, which makes it from "
            "the log with either provider"
        )
    if unended not in {None, partitions}:
        raise CheckpointError(
            f"{folder.location}: `rebuild --partitions {unended}` was interrupted: run it again before "
            f"--partitions {partitions}"
        )
    # An interrupted repartition to this number must still be ended.
    if unended is None and plan.state_partitions == partitions:
        raise CheckpointError(f"the state in {folder.location} has {partitions} partitions already")
    return plan.state_partitions
