"""Labels in the schema of a catalog, where Spark alone writes, and views of tables that lack the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.tables import replace_labels
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.tables.creation import create_temporary_views
from group_coordinator.tables.group_labels import GROUP_LABELS, GroupLabels
from group_coordinator.tables.state_tables import GROUPS

pytestmark = pytest.mark.spark

PAYMENTS = GroupLabels("payments-*", "Payments", "gold", 60)
ALL = GroupLabels("*", None, None, 3_600)


@pytest.fixture
def job(spark: SparkSession, configured: Settings, tmp_path: Path) -> Iterator[JobSettings]:
    spark.sql(f"CREATE SCHEMA of_labels LOCATION '{tmp_path}/warehouse'")
    yield replace(configured.job, tables_root="spark_catalog.of_labels", cluster_id="it's")
    spark.sql("DROP SCHEMA of_labels CASCADE")


def test_labels_of_a_cluster_are_replaced_in_one_commit(
    spark: SparkSession, job: JobSettings, tmp_path: Path
) -> None:
    folder = tmp_path / GROUP_LABELS.name
    GROUP_LABELS.create_on_disk(folder)
    spark.sql(f"CREATE TABLE of_labels.group_labels USING delta LOCATION '{folder}'")

    replace_labels(job, [PAYMENTS, ALL], lambda: spark)
    replace_labels(replace(job, cluster_id="other"), [PAYMENTS], lambda: spark)
    replace_labels(job, [ALL], lambda: spark)

    rows = spark.table("of_labels.group_labels").orderBy("cluster_id").collect()
    assert [tuple(row) for row in rows] == [("it's", *ALL), ("other", *PAYMENTS)]
    assert DeltaTable(folder).version() == 3
    replace_labels(job, [], lambda: spark)
    assert [row.cluster_id for row in spark.table("of_labels.group_labels").collect()] == ["other"]


def test_a_schema_without_the_table_is_named(spark: SparkSession, job: JobSettings) -> None:
    with pytest.raises(StartUpError, match=r"of_labels has no table group_labels: run `group-co"):
        replace_labels(job, [ALL], lambda: spark)


def test_views_of_tables_of_an_earlier_version_have_no_labels(spark: SparkSession) -> None:
    spark.createDataFrame([], GROUPS.schema).createOrReplaceTempView(GROUPS.name)

    names = create_temporary_views(spark, [GROUPS.name], "SELECT * FROM group_owners")

    assert names == ["groups", "group_owners"]
    assert spark.sql("SELECT * FROM group_owners").collect() == []
