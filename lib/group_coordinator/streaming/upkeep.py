"""The upkeep of the tables that a query writes; what is remembered of it is in the query's checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.ownership import WRITTEN
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.snapshots import SNAPSHOTS

OF_THE_COORDINATOR = (*WRITTEN, WRITERS)
"""What it appends to; a mirror does so in its place."""
OF_COMPACTION = (*COMPACTED, SNAPSHOTS)

_FILE = "maintenance.json"


def maintenance_of(
    spark: SparkSession, job: JobSettings, query_name: str, tables: Sequence[TableDefinition]
) -> Maintenance:
    """Each process looks after the tables that it writes, so that no two of one cluster want the same files.

    It runs in the driver that writes them: on S3 there may be no other (job/storage_check.py).
    """
    return Maintenance(spark, job, tables, notebook_of(spark, job, query_name))


def notebook_of(spark: SparkSession, job: JobSettings, query_name: str) -> Notebook:
    """What is remembered, in the checkpoint of a query, or in a folder beside it."""
    folder = CheckpointFolder(spark, checkpoint_of(job, query_name))
    return Notebook(lambda: folder.read(_FILE), lambda text: folder.write(_FILE, text))
