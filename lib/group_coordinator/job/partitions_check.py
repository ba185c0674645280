"""The number of state partitions: whoever starts the first run on a cluster chooses it, as it stays until `rebuild`."""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    PARTITIONS,
    coordinator_folder,
    has_begun,
    read_origin,
)
from group_coordinator.streaming.checkpoint.plans import state_partitions, unended_repartition
from group_coordinator.streaming.spark_lines import is_on_this_machine

_log = logging.getLogger(__name__)


def check_partitions(spark: SparkSession, job: JobSettings) -> str:
    """The number of state partitions of a run, which a first run on a cluster must not leave to chance.

    Raises:
        JobRefusedError: it is left to the executors that happen to be there, or a `rebuild` that changes it has not ended.
    """
    folder = coordinator_folder(spark, job)
    partitions = (
        _kept(folder, job.shuffle_partitions) if has_begun(folder) else _chosen(spark, job, folder)
    ) or spark.conf.get(PARTITIONS)
    _log.info("the state has %s partitions", partitions)
    return str(partitions)


def _kept(folder: CheckpointFolder, wanted: int) -> int | None:
    """What the checkpoint has, which this Spark goes by whatever the settings say."""
    unended = unended_repartition(folder)
    if unended is not None:
        raise JobRefusedError(
            f"checkpoint {folder.location}: `group-coordinator rebuild --partitions {unended}` was cut off; run it again, "
            "which ends what it began"
        )
    kept = state_partitions(folder)
    if kept is not None and wanted not in {0, kept}:
        _log.warning(
            "shuffle.partitions = %d: the state in %s has %d partitions and keeps them; to change that, stop the job and run "
            "`group-coordinator rebuild --partitions %d`",
            *(wanted, folder.location, kept, wanted),
        )
    return kept


def _chosen(spark: SparkSession, job: JobSettings, folder: CheckpointFolder) -> int | None:
    origin = read_origin(folder)
    of_the_rebuild = None if origin is None else origin.partitions
    is_chosen = job.shuffle_partitions or spark.sparkContext.getConf().contains(PARTITIONS)
    if not (of_the_rebuild or is_on_this_machine(spark) or is_chosen):
        raise JobRefusedError(
            "shuffle.partitions = 0: on a cluster the number of state partitions must be given at the first start, by "
            f"--set shuffle.partitions=N or --conf {PARTITIONS}=N. Choose as many as the executors have cores when "
            "the load is highest; it stays until a rebuild"
        )
    return of_the_rebuild
