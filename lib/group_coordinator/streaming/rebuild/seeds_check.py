"""Whether the seeds that a rebuild wrote are still whole: a batch would load what is left of them, and nobody would notice."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.streaming.checkpoint.folder import CheckpointFolder, DamagedFileError
from group_coordinator.streaming.checkpoint.layout import GROUPS, Origin, last_done_batch
from group_coordinator.streaming.source import PACKED


def check_seeds(spark: SparkSession, folder: CheckpointFolder, origin: Origin) -> None:
    """Count them before the first batch, which loads them. Spark passes over files that are empty or gone.

    Raises:
        DamagedFileError: some cannot be read, or there are not as many as the rebuild wrote.
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
