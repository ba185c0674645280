"""The number of state partitions: whoever starts the first run on a cluster chooses it, as it stays."""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder, has_begun
from group_coordinator.streaming.master import is_on_this_machine
from group_coordinator.streaming.session import PARTITIONS

_log = logging.getLogger(__name__)


def check_partitions(spark: SparkSession, job: JobSettings) -> None:
    """Refuse a first run on a cluster that leaves the number to chance: to the executors that happen to be there.

    Raises:
        JobRefusedError: the message says how to choose.
    """
    if has_begun(coordinator_folder(spark, job)):
        return
    is_chosen = job.shuffle_partitions or spark.sparkContext.getConf().contains(PARTITIONS)
    if not (is_on_this_machine(spark) or is_chosen):
        raise JobRefusedError(
            "shuffle.partitions = 0: on a cluster the number of state partitions must be given at the first start, by "
            f"--set shuffle.partitions=N or --conf {PARTITIONS}=N. Choose as many as the executors have cores when "
            "the load is highest; it stays until a rebuild"
        )
    _log.info("the state has %s partitions", spark.conf.get(PARTITIONS))
