"""Every query of the Databricks bundle, by Spark, over Delta tables of a cluster that has every trouble now."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from deltalake import write_deltalake
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.clients.sql_tables import query
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.views.all_views import VIEWS
from tests.support import databricks_bundle
from tests.support.troubled import AWAY, CLUSTER, LOST, ORDERS, troubled_tables

pytestmark = pytest.mark.spark

CATALOG, SCHEMA = "spark_catalog", "of_databricks"
ALERTS = databricks_bundle.alert_queries(CATALOG, SCHEMA)
EXAMPLES = databricks_bundle.genie_queries(CATALOG, SCHEMA)
DATASETS = databricks_bundle.datasets("billing")
WIDGETS = databricks_bundle.widget_queries("billing")
ALARMED = {
    "GroupCoordinatorDown": (AWAY,),
    "GroupCoordinatorDefects": (CLUSTER, "billing", "defect: KeyError: 1"),
    "GroupCoordinatorDeadLetters": (CLUSTER, "no JSON", 1),
    "GroupCoordinatorFiguresOld": (AWAY,),
    "GroupMissesObjective": (CLUSTER, "billing", "payments", 60, 3_599.0),
    "GroupStopped": (CLUSTER, "billing", "STOP", 1, 3_599.0),
    "GroupOffsetsExpire": (CLUSTER, "billing", 3),
    "GroupLosesRecords": (CLUSTER, "billing", 100),
    "GroupRecordsAtRisk": (CLUSTER, "billing", 1.0, 0.0),
    "GroupAheadOfLog": (CLUSTER, "billing", ORDERS, 2),
}
"""Alert -> the beginning of its only row."""
FIRST = {
    "groups": (CLUSTER, "billing", "classic", "Empty", 0, "LOSS", 990, ORDERS, "payments", 1, 1),
    "time_lag": (CLUSTER, "billing", 3_599.0, 3_599.0, 60, "payments", 1, 1),
    "lag_history": (CLUSTER, "billing"),
    "lost_offsets": (CLUSTER, "weekend", ORDERS, LOST, 1_000),
    "expiring_soon": (CLUSTER, "billing", ORDERS),
    "at_risk": (CLUSTER, "billing", ORDERS, LOST, 100, 800, 1.0, 0.0),
}
"""Dataset of the dashboard -> the beginning of its first row."""
COUNTED = {
    "groups-all": 3,
    "groups-in-trouble": 1,
    "groups-abandoned": 1,
    "groups-lag": 990,
    "time-lag-worst": 3_599.0,
    "time-lag-late": 1,
    "time-lag-objectives": 1,
    "lost-all": 1,
    "lost-still": 1,
    "expiring-day": 3,
    "at-risk-lost": 100,
    "at-risk-used-up": 1.0,
    "at-risk-seconds": 0.0,
}
"""Counter of the dashboard -> what it shows."""
WITHOUT_ROWS = {
    "Which offsets are lost, since when, and why?",
    "Which principal moved or deleted offsets of a group, and which offsets were there before?",
    "Which groups can change to the new protocol, which cannot, and which have?",
    "Which topics have lag that no group will ever read?",
}
"""Questions to Genie about a trouble that these tables do not have."""


@pytest.fixture(scope="module")
def spark_of_bundle(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """A session in a schema with the tables, and with the rows of the views: test_views.py shows that Spark finds the same."""
    root = troubled_tables(tmp_path_factory.mktemp("tables"), int(time.time()))
    for view in VIEWS:
        write_deltalake(root / view.name, query(str(root), f"SELECT * FROM {view.name}"))  # noqa: S608 - our own names
    spark.sql(f"CREATE SCHEMA {SCHEMA} LOCATION '{root}/warehouse'")
    for each in (*TABLES, *VIEWS):
        spark.sql(f"CREATE TABLE {SCHEMA}.{each.name} USING delta LOCATION '{root}/{each.name}'")
    spark.sql(f"USE {SCHEMA}")
    yield spark
    spark.sql("USE default")
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


def rows(found: DataFrame) -> list[tuple[object, ...]]:
    return [tuple(row) for row in found.collect()]


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_finds_its_trouble_alone(spark_of_bundle: SparkSession, alert: str) -> None:
    found = spark_of_bundle.sql(ALERTS[alert])

    assert "cluster_id" in found.columns
    assert [row[: len(ALARMED[alert])] for row in rows(found)] == [ALARMED[alert]]


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_dataset_of_the_dashboard_has_rows(spark_of_bundle: SparkSession, dataset: str) -> None:
    first, *_ = rows(spark_of_bundle.sql(DATASETS[dataset]))

    assert first[: len(FIRST[dataset])] == FIRST[dataset]


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_widget_has_something_to_show(spark_of_bundle: SparkSession, widget: str) -> None:
    found = [rows(spark_of_bundle.sql(sql)) for sql in WIDGETS[widget]]

    assert all(found)
    if databricks_bundle.widgets()[widget]["spec"]["widgetType"] == "counter":
        assert found == [[(COUNTED[widget],)]]


@pytest.mark.parametrize("question", EXAMPLES)
def test_an_example_for_genie_has_rows(spark_of_bundle: SparkSession, question: str) -> None:
    found = rows(spark_of_bundle.sql(EXAMPLES[question]))

    assert bool(found) is (question not in WITHOUT_ROWS)


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        (ALERTS["GroupStopped"], "silent_seconds"),
        (DATASETS["at_risk"], "used_up"),
        (WIDGETS["expiring-day"][0], "within_a_day`)"),
        (EXAMPLES["Whose is a group, and by which pattern?"], "pattern"),
    ],
)
def test_a_wrong_name_fails(spark_of_bundle: SparkSession, sql: str, column: str) -> None:
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        spark_of_bundle.sql(sql.replace(column, f"x{column}"))
