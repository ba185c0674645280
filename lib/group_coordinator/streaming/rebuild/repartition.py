"""Repartition of an intact checkpoint's state by Spark itself.

Spark 4.2 and later write it as a batch without events: groups stay as they are. A job that still runs ends at its next batch, as
Spark has written that batch's file by then.
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
    before = _checked(folder, partitions)
    # Creates the object to which tasks report their state stores.
    _ = spark.streams
    checkpoints: Any = getattr(spark, _CHECKPOINTS)
    checkpoints.repartition(folder.address_in_full, partitions)
    return before


def _checked(folder: CheckpointFolder, partitions: int) -> int:
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
