"""Gauges from the views where only Spark reads the tables; tests/unit/driver/metrics has their numbers."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.driver.metrics.table_gauges import table_asker
from group_coordinator.driver.metrics.view_gauges import ViewGauges
from group_coordinator.tables.catalog import TableCatalog
from tests.support.samples import tables_with_figures

pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def test_both_engines_have_the_same_gauges(spark: SparkSession, tmp_path: Path) -> None:
    root = tables_with_figures(tmp_path, round(time.time()))
    by_path = replace(settings.load().job, tables_root=str(root), cluster_id="test")
    by_url = replace(by_path, tables_root=root.as_uri())
    assert TableCatalog(by_url.tables_root).direct_root is None

    texts = []
    for job in (by_path, by_url):
        gauges = ViewGauges(table_asker(spark, job), "topic")
        gauges.read(Event())
        texts.append(gauges.text())

    assert texts[0].count(b"# TYPE") == 6
    assert sorted(texts[1].splitlines()) == sorted(texts[0].splitlines())
