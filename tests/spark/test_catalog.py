from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from group_coordinator.settings import Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES, create_tables, upgrade_tables
from group_coordinator.tables.maintenance_work import session_conf
from group_coordinator.tables.state_tables import GROUPS

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


def test_a_column_that_came_later_is_added_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    catalog = TableCatalog(f"file:{tmp_path}")
    earlier = replace(GROUPS, schema=StructType(GROUPS.schema.fields[:-1]))
    for table in TABLES:
        (earlier if table is GROUPS else table).create_on_disk(tmp_path / table.name)

    upgrade_tables(spark, catalog.root)

    assert catalog.read(spark, GROUPS.name).schema == GROUPS.schema
