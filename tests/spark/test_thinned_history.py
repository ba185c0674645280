"""Thinning beside Spark: compaction's stream goes on over it, and Spark thins as the command line's process does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from group_coordinator.settings import Settings
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.thinning import DAY_MS, ThinningLimits, thin_by_spark, thin_in_folder
from tests.support.group_history import GroupHistory, tables_of
from tests.support.log_rows import Log

pytestmark = pytest.mark.spark

CUT = ThinningLimits(closed_ms=3 * DAY_MS, hourly_ms=2 * DAY_MS, daily_ms=DAY_MS)


def append(
    spark: SparkSession, catalog: TableCatalog, batch_id: int, offsets: Sequence[int]
) -> None:
    log = Log(batch_id, now_ms=batch_id * 60_000)
    for offset in offsets:
        log.commit("g", "orders", 0, offset)
    rows = log.frame(spark).withColumns(
        {
            "reason": F.lit("offset-commit"),
            "topic": F.lit("orders"),
            "partition": F.lit(0),
            "offset": F.get_json_object("value", "$.data.offset").cast("long"),
        }
    )
    rows.write.format("delta").mode("append").save(catalog.location("coordinator_log"))


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    rows = DeltaTable(folder).to_pyarrow_table().to_pylist()
    return sorted(tuple(map(repr, row.values())) for row in rows)


def test_compaction_goes_on_over_a_thinning(
    spark: SparkSession, configured: Settings, catalog: TableCatalog
) -> None:
    """What it has not read yet is in files that are there for a day."""
    query = CompactionQuery(
        spark, replace(configured, job=replace(configured.job, cluster_id="test"))
    )
    append(spark, catalog, 0, [1, 2, 3])
    query.drain()
    append(spark, catalog, 1, [4, 5, 6])
    thin_in_folder(catalog.location("coordinator_log"), "test", CUT)
    append(spark, catalog, 2, [7])
    query.drain()

    (row,) = DeltaTable(catalog.location("offsets")).to_pyarrow_table().to_pylist()
    assert (row["committed_offset"], row["batch_id"]) == (7, 2)
    log = DeltaTable(catalog.location("coordinator_log")).to_pyarrow_table()
    assert sorted(log["offset"].to_pylist()) == [1, 6, 7]


def test_spark_thins_as_a_process_without_it(spark: SparkSession, tmp_path: Path) -> None:
    group = GroupHistory("it's", offsets_retention_ms=30 * DAY_MS)
    for offset in range(100):
        group.commit({"orders": {0: offset, 1: 200 - offset % 7}})
        group.sleep(3_600_000 * (offset % 2) + 60_000 * (offset % 5))
    roots = [tables_of(tmp_path / name, group) for name in ("whole", "in-folder", "by-spark")]
    whole, in_folder, by_spark = (root / "coordinator_log" for root in roots)

    thin_in_folder(str(in_folder), "test", CUT)
    thin_by_spark(spark, TableCatalog(f"file://{by_spark.parent}"), "test", CUT)

    assert rows_of(by_spark) == rows_of(in_folder)
    assert 100 < len(rows_of(by_spark)) < len(rows_of(whole)) == 200
