"""Questions that the Spark of a cluster answers, where the command line cannot read the tables itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from group_coordinator.clients import AdminClient
from group_coordinator.clients.admin.descriptions import GroupListing
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import TablesUnavailableError
from group_coordinator.clients.sql_tables import query
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.tables import ask_tables
from group_coordinator.settings import Settings
from group_coordinator.tables.append import append_few
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.state_tables import GROUPS
from tests.support.catalog_managed import catalog_managed, row_of_groups
from tests.support.extremes import extreme_tables
from tests.support.log_rows import EPOCH, Log
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

pytestmark = pytest.mark.spark

COUNT = "SELECT group_id, count(*) AS records FROM coordinator_log GROUP BY group_id"
WITH_VIEW = """
WITH counted AS (SELECT group_id, count(*) AS records FROM coordinator_log GROUP BY group_id)
SELECT group_id, what, records FROM group_timeline JOIN counted USING (group_id)
"""
FOLDED = "SELECT what, committed_offset FROM group_timeline JOIN offsets USING (group_id)"


@pytest.fixture
def settings(configured: Settings, catalog: TableCatalog) -> Settings:
    """Two commits, a second apart, which nobody has compacted."""
    log = Log()
    log.commit("billing", "orders", 0, 41)
    log.commit("billing", "orders", 0, 42)
    write_deltalake(catalog.location("coordinator_log"), log.table(), mode="append")
    return configured


def test_tables_and_views_have_their_plain_names(spark: SparkSession, settings: Settings) -> None:
    assert ask_tables(settings, lambda: spark, WITH_VIEW).to_pylist() == [
        {"group_id": "billing", "what": "created", "records": 2}
    ]


def test_an_earlier_time_has_its_own_rows(spark: SparkSession, settings: Settings) -> None:
    assert ask_tables(settings, lambda: spark, FOLDED, EPOCH).to_pylist() == [
        {"what": "created", "committed_offset": 41}
    ]


@pytest.mark.parametrize("table", [definition.name for definition in COMPACTED])
def test_extremes_are_folded_as_the_command_line_folds_them(
    spark: SparkSession, configured: Settings, tmp_path: Path, table: str
) -> None:
    root = str(extreme_tables(tmp_path / "tables"))
    as_of_time = AsOfTime(datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), configured.coordinator)
    about = f"SELECT * FROM {table}"  # noqa: S608 - our own names

    found = ask_tables(configured, lambda: spark, about, as_of_time.at).to_pylist()

    wanted = query(root, about, as_of_time).to_pylist()
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert table == "members" or found


def test_a_query_that_is_wrong_is_told_in_one_line(spark: SparkSession, settings: Settings) -> None:
    with pytest.raises(StartUpError, match="UNRESOLVED_COLUMN") as refusal:
        ask_tables(settings, lambda: spark, "SELECT nothing FROM groups")
    assert "\n" not in str(refusal.value)


def test_tables_that_are_not_there_are_named(spark: SparkSession, settings: Settings) -> None:
    root = f"{settings.job.tables_root}-elsewhere"
    elsewhere = replace(settings, job=replace(settings.job, tables_root=root))
    with pytest.raises(StartUpError, match="coordinator_log, groups"):
        ask_tables(elsewhere, lambda: spark, COUNT)


@pytest.mark.parametrize("statement", ["DELETE FROM delta.`{}`", "DELETE FROM coordinator_log"])
def test_what_changes_a_table_is_refused(
    spark: SparkSession, settings: Settings, catalog: TableCatalog, statement: str
) -> None:
    with pytest.raises(
        StartUpError, match=r"^DeleteFromTable is not allowed: the tables are read-only"
    ):
        ask_tables(settings, lambda: spark, statement.format(catalog.location("coordinator_log")))
    assert ask_tables(settings, lambda: spark, COUNT).to_pylist() == [
        {"group_id": "billing", "records": 2}
    ]


def test_groups_in_a_catalog_are_listed_by_the_spark_of_the_program(
    spark: SparkSession, tmp_path: Path
) -> None:
    with (
        catalog_managed(spark, tmp_path, [GROUPS]) as catalog,
        AdminClient(channel=CoordinatorInProcess(), tables_root=catalog.root) as admin,
    ):
        append_few(row_of_groups("test", "billing"), spark, catalog, GROUPS)

        listed = admin.list_consumer_groups()

        assert listed == [GroupListing("billing", "classic", "Empty", "consumer")]
        spark.sql(f"DROP TABLE {catalog.location('groups')}")
        with pytest.raises(TablesUnavailableError, match=r"^tables.root = spark_catalog.managed: "):
            admin.list_consumer_groups()


def test_settings_of_spark_are_not_put_into_a_query(
    spark: SparkSession, settings: Settings
) -> None:
    asked = "SELECT '${spark.app.name}' AS name, count(*) AS files FROM groups"

    assert ask_tables(settings, lambda: spark, asked).to_pylist() == [
        {"name": "${spark.app.name}", "files": 0}
    ]
