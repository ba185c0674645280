"""The condition by which Delta finds the files of a stretch's groups."""

from __future__ import annotations

import pytest
from chispa import assert_df_equality
from pyspark.sql import SparkSession

from group_coordinator.tables.compaction.spark import Range, condition

pytestmark = pytest.mark.spark

HOME = "${env:HOME}"
"""In a text of SQL Spark would put the driver's environment in its place."""


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([Range("a", "b"), Range("o'hara\\", "o'hara\\")], ["a", "b", "o'hara\\"]),
        ([Range(HOME, HOME)], [HOME]),
        (None, [HOME, "a", "b", "c", "o'hara\\"]),
    ],
)
def test_it_holds_for_the_groups_of_one_cluster_whatever_they_are_called(
    spark: SparkSession, ranges: list[Range] | None, expected: list[str]
) -> None:
    groups = ["a", "b", "c", "o'hara\\", HOME]
    rows = [(cluster, group) for cluster in ("east", "${env:HOME}") for group in groups]
    table = spark.createDataFrame(rows, "cluster_id STRING, group_id STRING").alias("old")

    found = table.where(condition("east", ranges, "old"))

    wanted = spark.createDataFrame([("east", group) for group in expected], found.schema)
    assert_df_equality(found, wanted, ignore_row_order=True)
