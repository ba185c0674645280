"""Compaction as a query: it goes on where it was, also where the log's table does not know that any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from group_coordinator.settings import Settings
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.tables.catalog import TableCatalog
from tests.support.log_rows import Log

pytestmark = pytest.mark.spark


def append(spark: SparkSession, catalog: TableCatalog, batch_id: int, *groups: str) -> None:
    log = Log(batch_id, now_ms=batch_id * 1_000)
    for group in groups:
        log.commit(group, "orders", 0, batch_id)
    frame = log.frame(spark)
    frame.write.format("delta").mode("append").save(catalog.location("coordinator_log"))


def offsets(catalog: TableCatalog) -> dict[str, int]:
    rows = DeltaTable(catalog.location("offsets")).to_pyarrow_table().to_pylist()
    return {row["group_id"]: row["committed_offset"] for row in rows}


def forget_versions(folder: Path) -> None:
    """As Delta does with those that are older than delta.logRetentionDuration, when it writes a checkpoint."""
    table = DeltaTable(folder)
    table.create_checkpoint()
    for version in range(table.version()):
        (folder / "_delta_log" / f"{version:020}.json").unlink(missing_ok=True)


def test_after_weeks_of_standing_still_it_begins_with_the_first_row(
    spark: SparkSession, configured: Settings, catalog: TableCatalog
) -> None:
    query = CompactionQuery(spark, configured)
    append(spark, catalog, 0, "a", "b")
    query.drain()
    append(spark, catalog, 1, "b")
    append(spark, catalog, 2, "c")
    folder = catalog.local_folder("coordinator_log")
    assert folder is not None
    forget_versions(folder)
    append(spark, catalog, 3, "c")

    query.drain()

    assert offsets(catalog) == {"a": 0, "b": 1, "c": 3}
