"""Where samples of the topics' ends go: into a folder without Spark, into a catalog by Spark."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import SparkSession

from group_coordinator.job.cluster_folder import cluster_folder
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.upkeep import notebook_of
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import SAMPLED
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.positions_store import PositionsBySpark, PositionsFolder
from group_coordinator.tables.storage_errors import storage_named
from group_coordinator.tables.topic_ids import TopicIdsBySpark, TopicIdsFolder
from group_coordinator.tables.topic_positions import TOPIC_POSITIONS


class PositionTables(NamedTuple):
    """The two tables of a cluster, and who looks after their files; None: nobody here."""

    positions: PositionsFolder | PositionsBySpark
    topic_ids: TopicIdsFolder | TopicIdsBySpark
    maintenance: Maintenance | None


def tables_in_folder(job: JobSettings) -> PositionTables:
    """Without Spark; what is remembered of the upkeep is in topic_positions itself.

    Raises:
        JobRefusedError: the table has not been made.
    """
    positions = PositionsFolder(TableCatalog(job.tables_root), job.cluster_id)
    with storage_named("tables.root", job.tables_root):
        are_there = positions.exists()
    if not are_there:
        raise _not_made(job)
    topic_ids = TopicIdsFolder(positions.catalog, job.cluster_id)
    return PositionTables(positions, topic_ids, _maintenance(None, job, positions.notebook()))


def tables_by_spark(spark: SparkSession, job: JobSettings) -> PositionTables:
    """By Spark; what is remembered of the upkeep is in a folder of the checkpoint's, one a cluster.

    Raises:
        JobRefusedError: the table has not been made.
    """
    catalog = TableCatalog(job.tables_root)
    with storage_named("tables.root", job.tables_root):
        are_there = catalog.exists(spark, TOPIC_POSITIONS.name)
    if not are_there:
        raise _not_made(job)
    notebook = notebook_of(spark, job, f"positions-{cluster_folder(job.cluster_id)}")
    return PositionTables(
        PositionsBySpark(spark, catalog, job.cluster_id, notebook),
        TopicIdsBySpark(spark, catalog, job.cluster_id),
        _maintenance(spark, job, notebook),
    )


def _not_made(job: JobSettings) -> JobRefusedError:
    return JobRefusedError(
        f"tables.root = {job.tables_root} has no table {TOPIC_POSITIONS.name}: `group-coordinator init` makes it, or, "
        "without the topics, `group-coordinator-job create-tables`"
    )


def _maintenance(
    spark: SparkSession | None, job: JobSettings, notebook: Notebook
) -> Maintenance | None:
    if not job.maintenance_interval_ms:
        return None
    return Maintenance(spark, job, SAMPLED, notebook)
