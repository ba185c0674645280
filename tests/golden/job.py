"""The job without Kafka: the real operator and sinks, fed from a folder, with time made by events alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.source import PACKED, read_groups
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.compaction import Compaction
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import upgrade_tables
from group_coordinator.tables.writer import Writer
from tests.golden.story import TOPIC, PackedEvent

SETTINGS = (
    "shuffle.partitions=2",
    "trigger.interval.ms=1000",
    "offsets.retention.check.interval.ms=1000",
    "group.initial.rebalance.delay.ms=3000",
)


def settings_in(folder: Path) -> list[str]:
    """The settings of the golden job in a folder."""
    return [*SETTINGS, f"tables.root={folder}/tables", f"checkpoint.location={folder}/checkpoint"]


def send(spark: SparkSession, folder: Path, events: list[PackedEvent]) -> None:
    """Give the job events, in one batch."""
    rows = [(group, bytearray(event)) for group, event in events]
    spark.createDataFrame(rows, PACKED).coalesce(1).write.mode("append").parquet(str(folder))


def start(
    spark: SparkSession, settings: Settings, folder: Path, write: Callable[[DataFrame, int], None]
) -> StreamingQuery:
    """Run the job on the events of a folder."""
    job = settings.job
    context = UpdateContext(settings.coordinator, TOPIC, job.timer_slack_ms, timers_suspended=True)
    calls = coordinate(read_groups(spark, str(folder)), context, job.exchange)
    return (
        calls.writeStream.foreachBatch(write)
        .option("checkpointLocation", f"{job.checkpoint_location}/coordinator")
        .trigger(processingTime=f"{job.trigger_interval_ms} milliseconds")
        .start()
    )


def writer(settings: Settings) -> Writer:
    """The only one that the golden job ever had."""
    return Writer(TableCatalog(settings.job.tables_root), settings.job.cluster_id, epoch=1)


def compact(spark: SparkSession, settings: Settings, version: int) -> None:
    """Fold the whole log into the tables."""
    catalog = TableCatalog(settings.job.tables_root)
    coordinator = settings.coordinator
    retention = Retention(coordinator.retention_ms, coordinator.offsets_retention_check_interval_ms)
    log = catalog.read(spark, COORDINATOR_LOG.name)
    upgrade_tables(spark, catalog.root)
    Compaction(catalog, settings.job.cluster_id, retention, "golden").apply(log, version)
