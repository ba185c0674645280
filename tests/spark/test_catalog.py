from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import deltalake
import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from group_coordinator.settings import Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES, create_tables, upgrade_tables
from group_coordinator.tables.session_conf import session_conf

pytestmark = pytest.mark.spark


def test_tables_are_alike_whoever_makes_them(
    spark: SparkSession, configured: Settings, tmp_path: Path
) -> None:
    by_deltalake = TableCatalog(configured.job.tables_root)
    create_tables(by_deltalake.root, lambda: spark)
    by_spark = TableCatalog(f"file:{tmp_path}/by-spark")
    with session_conf(spark, {"spark.sql.timestampType": "TIMESTAMP_NTZ"}):
        create_tables(by_spark.root, lambda: spark)

    for table in TABLES:
        made = by_deltalake.read(spark, table.name).schema
        assert made == by_spark.read(spark, table.name).schema == table.schema
        assert [column.metadata for column in made] == [column.metadata for column in table.schema]
        detail = DeltaTable.forPath(spark, by_spark.location(table.name)).detail().first()
        assert detail is not None
        assert detail["partitionColumns"] == list(table.partitioned_by)
        assert detail["properties"]["delta.checkpointInterval"] == "50"


@pytest.mark.parametrize(("scheme", "versions"), [("", "30 minutes"), ("file:", "1 days")])
def test_tables_of_0_2_0_forget_versions_sooner_and_keep_files_longer(
    spark: SparkSession, tmp_path: Path, scheme: str, versions: str
) -> None:
    catalog = TableCatalog(f"{scheme}{tmp_path}/earlier")
    log, files = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"
    of_0_2_0 = {log: "interval 7 days", files: "interval 3 hours"}
    for table in TABLES:
        replace(table, properties=of_0_2_0).create_on_disk(tmp_path / "earlier" / table.name)
    chosen = {log: "interval 30 days", files: "interval 14 days"}
    deltalake.DeltaTable(tmp_path / "earlier" / "offsets").alter.set_table_properties(chosen)

    upgrade_tables(spark, catalog.root)

    for name, expected in (
        ("groups", {log: f"interval {versions}", files: "interval 1 days"}),
        ("offsets", chosen),
    ):
        table = deltalake.DeltaTable(tmp_path / "earlier" / name)
        present = table.metadata().configuration
        assert {key: present[key] for key in expected} == expected
        assert table.version() == 1
