"""The state of a checkpoint that is whole, divided among another number of partitions, by Spark itself.

Spark 4.2 and later write it as a batch behind the last one, which reads no events: groups stay as they are, with members
and their sessions. A run that goes on meanwhile ends at its next batch, whose file Spark has written by then.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    coordinator_folder,
    last_done_batch,
    last_planned_batch,
)
from group_coordinator.streaming.checkpoint.ownership import CheckpointError, check_may_write
from group_coordinator.streaming.checkpoint.plans import Plans, unended_repartition

_CHECKPOINTS = "_streamingCheckpointManager"
"""PySpark 4.2 has no public name for it."""
_ROCKSDB = ".RocksDBStateStoreProvider"


def repartition(spark: SparkSession, job: JobSettings, partitions: int) -> int:
    """Divide the state of the coordinator's checkpoint; how many partitions it had. Safe to repeat when it was cut off.

    Raises:
        CheckpointError: the checkpoint must not write the tables, or has a batch that has not ended, or none, or so many
            partitions already; or this Spark cannot do it, or not with this state.
    """
    folder = coordinator_folder(spark, job)
    if not hasattr(spark, _CHECKPOINTS):
        raise CheckpointError(
            f"Spark {spark.version} cannot divide the state in {folder.location} anew, 4.2 and later can: take the "
            f"checkpoint away, and `rebuild --partitions {partitions}` makes it from the log"
        )
    # One more batch would make a checkpoint that is older than the tables look as new as they are.
    check_may_write(spark, job, lambda: None)
    before = _checked(folder, partitions)
    _ = spark.streams  # makes what the tasks report their state stores to
    checkpoints: Any = getattr(spark, _CHECKPOINTS)
    checkpoints.repartition(folder.address_in_full, partitions)
    return before


def _checked(folder: CheckpointFolder, partitions: int) -> int:
    """How many partitions there are, unless they are not to be changed."""
    planned, done = last_planned_batch(folder), last_done_batch(folder)
    plan, unended = Plans(folder).of(done), unended_repartition(folder)
    if planned > done and unended is None:
        raise CheckpointError(
            f"batch {planned} of {folder.location} has not ended: end it by `run --drain` first"
        )
    if plan is None or plan.state_partitions is None:
        raise CheckpointError(
            f"{folder.location} has no batch yet: `run` begins with shuffle.partitions = {partitions}, if it is given"
        )
    # Spark would notice it when it has planned its batch, which then could neither end nor be taken back.
    if not plan.state_store.endswith(_ROCKSDB):
        raise CheckpointError(
            f"{folder.location} has its state by state.store.provider = hdfs, and Spark divides only that of rocksdb: take the "
            f"checkpoint away, and `rebuild --partitions {partitions}` makes it from the log, with either provider"
        )
    if unended not in {None, partitions}:
        raise CheckpointError(
            f"{folder.location}: `rebuild --partitions {unended}` was cut off; run it again before --partitions {partitions}"
        )
    if unended is None and plan.state_partitions == partitions:
        raise CheckpointError(f"the state in {folder.location} has {partitions} partitions already")
    return plan.state_partitions
