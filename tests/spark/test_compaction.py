from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import Compaction
from group_coordinator.tables.forecast import Forecast
from group_coordinator.tables.merging import Merger
from tests.spark.log_rows import Log, member

pytestmark = pytest.mark.spark

MINUTE_AND_TEN_SECONDS = Forecast(retention_ms=60_000, check_interval_ms=10_000)
A = member("a", ["orders"], {"orders": [0, 1]})


def second(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


@pytest.fixture
def tables(spark: SparkSession, catalog: TableCatalog) -> Tables:
    return Tables(spark, catalog)


class Tables:
    """What compaction makes of a log."""

    def __init__(self, spark: SparkSession, catalog: TableCatalog) -> None:
        self.spark = spark
        self.catalog = catalog

    def take(self, log: Log, application: str = "query") -> None:
        t=time.time()
        merger = Merger(self.catalog, application, log.batch_id)
        Compaction(self.catalog, MINUTE_AND_TEN_SECONDS).apply(log.frame(self.spark), merger)
        print("take", time.time()-t)

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        frame = self.catalog.read(self.spark, table).select(*columns)
        return sorted(map(tuple, frame.collect()))


def test_the_life_of_a_simple_group(tables: Tables) -> None:
    log = Log()
    log.commit("g", "orders", 0, 5)
    log.commit("g", "orders", 0, 7)
    log.commit("g", "orders", 1, 9, commitTimestamp=500)
    tables.take(log)

    assert tables.rows("offsets", "group_id", "partition", "committed_offset", "expires_at") == [
        ("g", 0, 7, second(70)),
        ("g", 1, 9, second(70)),
    ]
    assert tables.rows(
        "groups", "state", "protocol_type", "offset_count", "next_expiration", "updated_at"
    ) == [("Empty", None, 2, second(70), second(2))]

    for _ in range(8): tables.take(log, str(_))
