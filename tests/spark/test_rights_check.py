"""Looking at the rights on tables leaves them as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from group_coordinator.driver.checks.storage import check_catalog_takes_appends, check_takes_files
from group_coordinator.driver.errors import StartUpError
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG

pytestmark = pytest.mark.spark


@pytest.fixture
def in_a_catalog(spark: SparkSession, tmp_path: Path) -> Iterator[TableCatalog]:
    spark.sql(f"CREATE SCHEMA `rights` LOCATION '{tmp_path}/warehouse'")
    catalog = TableCatalog("spark_catalog.rights")
    COORDINATOR_LOG.create(spark, catalog)
    yield catalog
    spark.sql("DROP SCHEMA `rights` CASCADE")


def test_an_append_of_no_rows_is_no_version_of_a_table(
    spark: SparkSession, in_a_catalog: TableCatalog
) -> None:
    check_catalog_takes_appends(spark, in_a_catalog.root)

    assert in_a_catalog.writable(spark, COORDINATOR_LOG.name).history().count() == 1


def test_a_folder_that_takes_no_files_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    folder = CheckpointFolder(spark, f"{tmp_path}/a-file/tables")

    with pytest.raises(StartUpError, match=r"^tables\.root = here cannot be written: .*a-file"):
        check_takes_files(folder, "tables.root = here")
