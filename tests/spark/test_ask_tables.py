"""Questions that the Spark of a cluster answers, where the command line cannot read the tables itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from group_coordinator.job.ask_tables import ask_tables
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.tables.catalog import TableCatalog
from tests.support.log_rows import Log

pytestmark = pytest.mark.spark

COUNT = "SELECT group_id, count(*) AS records FROM coordinator_log GROUP BY group_id"
WITH_VIEW = """
WITH counted AS (SELECT group_id, count(*) AS records FROM coordinator_log GROUP BY group_id)
SELECT group_id, what, records FROM group_timeline JOIN counted USING (group_id)
"""


@pytest.fixture
def job(configured: Settings, catalog: TableCatalog, spark: SparkSession) -> JobSettings:
    log = Log()
    log.commit("billing", "orders", 0, 41)
    log.commit("billing", "orders", 0, 42)
    catalog.save(log.frame(spark).write.format("delta").mode("append"), "coordinator_log")
    return configured.job


def test_tables_and_views_have_their_plain_names(spark: SparkSession, job: JobSettings) -> None:
    assert ask_tables(job, lambda: spark, WITH_VIEW).to_pylist() == [
        {"group_id": "billing", "what": "created", "records": 2}
    ]


def test_a_query_that_is_wrong_is_told_in_one_line(spark: SparkSession, job: JobSettings) -> None:
    with pytest.raises(JobRefusedError, match="UNRESOLVED_COLUMN") as refusal:
        ask_tables(job, lambda: spark, "SELECT nothing FROM groups")
    assert "\n" not in str(refusal.value)


def test_tables_that_are_not_there_are_named(spark: SparkSession, job: JobSettings) -> None:
    elsewhere = replace(job, tables_root=f"{job.tables_root}-elsewhere")
    with pytest.raises(JobRefusedError, match="coordinator_log, groups"):
        ask_tables(elsewhere, lambda: spark, COUNT)
