"""How long the views' examples take over the year: the whole command, the query in a process that has answered before, and Spark."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import track

from group_coordinator import settings
from group_coordinator.clients.sql_tables import query
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES, create_temporary_views
from group_coordinator.tables.views.all_views import VIEWS

TIMES = 3
WARMING_ROUNDS = 9
"""Java compiles Spark's planner while it answers: only then does a question take as long as in a session that is in use."""
ABOUT_ALL = {
    "lost_offsets of all groups": "SELECT reason, count(*) FROM lost_offsets GROUP BY reason",
    "audit of all groups": "SELECT change, count(*) FROM audit GROUP BY change",
    "group_timeline of all groups": "SELECT what, count(*) FROM group_timeline GROUP BY what",
    "rebalances of all groups": "SELECT cause, count(*) FROM rebalances GROUP BY cause",
    "commit_rate of all groups": "SELECT group_id, sum(advanced) FROM commit_rate GROUP BY group_id",
    "lag_history at every sample": "SELECT sampled_at, sum(lag) AS lag FROM lag_history "
    "WHERE group_id = 'billing' GROUP BY sampled_at ORDER BY sampled_at",
}
"""Questions that read the whole year, to say how long they take."""


def examples() -> dict[str, str]:
    """By view."""
    return {view.name: view.example for view in VIEWS}


def by_command(root: Path, questions: Mapping[str, str]) -> dict[str, float]:
    """Seconds of `group-coordinator sql`, from its start to its end."""
    command = [sys.executable, "-m", "group_coordinator.cli.main", "sql", "--tables", str(root)]

    def ask(sql: str) -> None:
        subprocess.run([*command, sql], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - a fixed program

    return {name: _seconds(ask, sql) for name, sql in questions.items()}


def by_query(root: Path, questions: Mapping[str, str]) -> dict[str, float]:
    """Seconds of the query alone."""
    return {
        name: _seconds(lambda sql: query(str(root), sql), sql) for name, sql in questions.items()
    }


def by_spark(root: Path, questions: Mapping[str, str]) -> dict[str, float]:
    """Seconds in a session on this machine that has answered all of the questions some times."""
    job = settings.load(overrides=[f"tables.root={root}"]).job
    with scratch_folder() as scratch:
        spark = local_session(job, spark_jars(), scratch)
        catalog = TableCatalog(job.tables_root)
        for table in TABLES:
            catalog.read(spark, table.name).createOrReplaceTempView(table.name)
        for _ in track(range(WARMING_ROUNDS), "Spark warms", console=Console(stderr=True)):
            for sql in questions.values():
                _ask(spark, sql)
        found = {
            name: _seconds(lambda sql: _ask(spark, sql), sql) for name, sql in questions.items()
        }
        spark.stop()
    return found


def _ask(spark: SparkSession, sql: str) -> None:
    create_temporary_views(spark, [table.name for table in TABLES], sql)
    spark.sql(sql).toArrow()


def _seconds(ask: Callable[[str], object], sql: str) -> float:
    """The median of some times."""
    taken = []
    for _ in range(TIMES):
        begun_s = time.perf_counter()
        ask(sql)
        taken.append(time.perf_counter() - begun_s)
    return round(statistics.median(taken), 2)
