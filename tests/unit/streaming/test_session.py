from __future__ import annotations

import pytest

from group_coordinator.streaming import session
from group_coordinator.streaming.cluster_options import DATABRICKS

DELTA = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


class Given:
    """Stands for what spark-submit was given; the real one needs a JVM."""

    def __init__(self, **values: str) -> None:
        self._values = {key.replace("__", "."): value for key, value in values.items()}

    def __call__(self) -> Given:
        return self

    def get(self, key: str, default: str) -> str:
        return self._values.get(key, default)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABRICKS, raising=False)


def test_delta_comes_beside_the_extensions_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Given(spark__sql__extensions="org.apache.iceberg.Extensions")
    monkeypatch.setattr(session, "SparkConf", theirs)

    assert session.delta_settings() == {
        "spark.sql.extensions": f"org.apache.iceberg.Extensions,{DELTA}",
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
    }


def test_a_catalog_that_is_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Given(
        spark__sql__catalog__spark_catalog="theirs.Catalog", spark__sql__extensions=DELTA
    )
    monkeypatch.setattr(session, "SparkConf", theirs)

    assert session.delta_settings() == {
        "spark.sql.extensions": DELTA,
        "spark.sql.catalog.spark_catalog": "theirs.Catalog",
    }


def test_databricks_has_delta_and_a_catalog_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABRICKS, "17.3")

    assert session.delta_settings() == {}
