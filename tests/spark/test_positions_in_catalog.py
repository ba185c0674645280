"""Samples in the schema of a catalog, where Spark alone writes: rows, their retention, failures."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chispa import assert_df_equality
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.clients.cluster.positions import Sample
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.positions import PositionRounds, PositionTables, tables_by_spark
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import SAMPLED
from group_coordinator.tables.position import Position
from group_coordinator.tables.samples import TOPIC_POSITIONS, position_rows
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_names

pytestmark = pytest.mark.spark

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
MIDNIGHT = 20_400 * DAY
ORDERS, REFUNDS = Position("orders", 0, 100, 108, 110), Position("refunds", 1, 0, 7, 7)
IDS = {"4ksO1bcLSgCStYJnTlCVLg": "orders"}


@pytest.fixture
def job(spark: SparkSession, configured: Settings, tmp_path: Path) -> Iterator[JobSettings]:
    spark.sql(f"CREATE SCHEMA of_positions LOCATION '{tmp_path}/warehouse'")
    for table in SAMPLED:
        table.create_on_disk(tmp_path / table.name)
        made = f"of_positions.{table.name} USING delta LOCATION '{tmp_path}/{table.name}'"
        spark.sql(f"CREATE TABLE {made}")
    root = "spark_catalog.of_positions"
    # How Spark puts files together: test_compaction_by_spark.py.
    yield replace(configured.job, tables_root=root, cluster_id="it's", maintenance_interval_ms=0)
    spark.sql("DROP SCHEMA of_positions CASCADE")


class Cluster:
    """Its next samples."""

    def __init__(self, *samples: Sample) -> None:
        self._samples = list(samples)

    def sample(self) -> Sample:
        return self._samples.pop(0)


def rounds(job: JobSettings, tables: PositionTables, *times: int) -> PositionRounds:
    cluster: Any = Cluster(*(Sample([ORDERS, REFUNDS], [], at, IDS) for at in times))
    return PositionRounds(job, cluster, tables)


def rows(spark: SparkSession, job: JobSettings) -> DataFrame:
    return TableCatalog(job.tables_root).read(spark, TOPIC_POSITIONS.name)


def has_times(spark: SparkSession, job: JobSettings, *expected: tuple[str, int]) -> None:
    """By topic, from midnight on."""
    ours = rows(spark, job).where(F.col("cluster_id") == job.cluster_id)
    found = ours.select("topic", (F.unix_millis("sampled_at") - MIDNIGHT).alias("at"))
    wanted = spark.createDataFrame([*expected], found.schema)
    assert_df_equality(found, wanted, ignore_row_order=True)


def test_a_round_is_a_commit_of_one_file(
    spark: SparkSession, job: JobSettings, tmp_path: Path
) -> None:
    two = rounds(job, tables_by_spark(spark, job), MIDNIGHT, MIDNIGHT + 1)
    two.run_alone()
    two.run_alone()

    folder = DeltaTable(tmp_path / TOPIC_POSITIONS.name)
    assert (folder.version(), len(folder.file_uris())) == (2, 2)
    first = rows(spark, job).where(f"sampled_at = timestamp_millis({MIDNIGHT})")
    wanted = [("it's", "orders", 0, 100, 110, 108), ("it's", "refunds", 1, 0, 7, 7)]
    shape = [name for name in TOPIC_POSITIONS.schema.names if name != "sampled_at"]
    assert_df_equality(
        first.select(shape),
        spark.createDataFrame(wanted, first.select(shape).schema),
        ignore_row_order=True,
    )
    assert topic_names(spark, TableCatalog(job.tables_root), "it's") == IDS
    assert DeltaTable(tmp_path / TOPIC_IDS.name).version() == 1


@pytest.mark.nightly
def test_old_samples_grow_fewer_and_go(spark: SparkSession, job: JobSettings) -> None:
    """Those of another cluster stay; a process that begins later knows how far it went."""
    kept = replace(job, positions_retention_ms=2 * DAY, positions_full_ms=DAY)
    other = tables_by_spark(spark, replace(job, cluster_id="other")).positions
    other.append(position_rows("other", [ORDERS], MIDNIGHT))
    first = tables_by_spark(spark, kept)
    for at, sampled in ((0, [ORDERS]), (1, [ORDERS, REFUNDS]), (30, [REFUNDS]), (60, [ORDERS])):
        first.positions.append(position_rows("it's", sampled, MIDNIGHT + at * MINUTE))

    rounds(kept, first, MIDNIGHT + 2 * DAY).run_alone()
    of_an_hour = [("orders", 0), ("refunds", MINUTE)]
    now = [("orders", 2 * DAY), ("refunds", 2 * DAY)]
    has_times(spark, job, *of_an_hour, ("orders", HOUR), *now)

    later = tables_by_spark(spark, kept)
    later.positions.append(position_rows("it's", [ORDERS], MIDNIGHT + 59 * MINUTE))
    later.positions.thin(DAY, MIDNIGHT + 3 * DAY - 1)
    later.positions.remove_old(2 * DAY, MIDNIGHT + 2 * DAY + HOUR)
    has_times(spark, job, *of_an_hour, ("orders", 59 * MINUTE), ("orders", HOUR), *now)

    later.positions.remove_old(2 * DAY, MIDNIGHT + 2 * DAY + HOUR + 1)
    has_times(spark, job, *now)
    assert rows(spark, job).where("cluster_id = 'other'").count() == 1


def test_a_table_that_takes_no_sample_is_told_and_the_next_round_tries_again(
    spark: SparkSession, job: JobSettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    two = rounds(job, tables_by_spark(spark, job), MIDNIGHT, MIDNIGHT + MINUTE)
    spark.sql("DROP TABLE of_positions.topic_positions")
    with pytest.raises(
        StartUpError, match="has no table topic_positions: run `group-coordinator init`"
    ):
        tables_by_spark(spark, job)

    two.run_or_report()
    location = f"USING delta LOCATION '{tmp_path}/{TOPIC_POSITIONS.name}'"
    spark.sql(f"CREATE TABLE of_positions.topic_positions {location}")
    two.run_or_report()

    has_times(spark, job, ("orders", MINUTE), ("refunds", MINUTE))
    assert "`topic_positions` cannot be written: " in caplog.messages[0]
    assert caplog.messages[1:] == ["partitions sampled: 2"]
