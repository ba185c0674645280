"""The tables: created by `init` and jobs/create_tables.py, and queries that a cluster's Spark answers."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from datetime import datetime

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.driver.checks.queries import check_query
from group_coordinator.driver.checks.storage import check_storage
from group_coordinator.driver.error_causes import refusals_told
from group_coordinator.driver.errors import JobRefusedError
from group_coordinator.driver.session import MakeSession, session
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.compaction import entries_of
from group_coordinator.tables.compaction.offset_rows import Retention
from group_coordinator.tables.compaction.spark import folded
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import (
    TABLES,
    check_tables,
    create_tables,
    create_temporary_views,
)
from group_coordinator.tables.timestamps import ROW_TIMES
from group_coordinator.tables.topic_ids import TOPIC_IDS


@refusals_told()
def create_tables_of(job: JobSettings, make_session: MakeSession) -> list[str]:
    """Make what is missing; the names, or addresses, of all tables. Spark starts only where it is needed."""
    with ExitStack() as opened:

        def make() -> SparkSession:
            spark = opened.enter_context(session(make_session))
            check_storage(spark, job)
            return spark

        return create_tables(job.tables_root, make)


_SUBSTITUTE = "spark.sql.variable.substitute"
"""Whether ${...} in a query gives settings of Spark, and so the secrets among them."""


@refusals_told()
def ask_tables(
    settings: Settings, make_session: MakeSession, query: str, as_of: datetime | None = None
) -> pa.Table:
    """The answer to a query in Spark's SQL, in which tables and views have their plain names.

    Args:
        settings: where the tables are, and the retention that forecasts for an earlier time are made with.
        make_session: Spark.
        query: the query.
        as_of: as the tables were then; None: as they are.

    Raises:
        JobRefusedError: there are no tables, or the query cannot be answered, or does more than read them; the message is one line.
    """
    catalog = TableCatalog(settings.job.tables_root)
    with session(make_session) as spark:
        check_tables(spark, catalog.root)
        tables = _tables(spark, catalog)
        if as_of is not None:
            tables = _as_of(tables, as_of, settings)
        for name, table in tables.items():
            table.createOrReplaceTempView(name)
        names = create_temporary_views(spark, tables, query)
        substitutes = str(spark.conf.get(_SUBSTITUTE))
        spark.conf.set(_SUBSTITUTE, "false")
        try:
            check_query(spark, query, names)
            return spark.sql(query).toArrow()
        except PySparkException as error:
            raise JobRefusedError(" ".join(str(error).split("\n\nJVM")[0].split())) from error
        finally:
            spark.conf.set(_SUBSTITUTE, substitutes)


def _tables(spark: SparkSession, catalog: TableCatalog) -> dict[str, DataFrame]:
    """Those that are there: an earlier version may have made fewer."""
    return {
        table.name: catalog.read(spark, table.name)
        for table in TABLES
        if catalog.exists(spark, table.name)
    }


def _as_of(
    tables: dict[str, DataFrame], time: datetime, settings: Settings
) -> dict[str, DataFrame]:
    """As they were: without rows that came later, and what compaction keeps folded anew from the log."""
    past = {
        name: tables[name].where(F.col(column) <= F.lit(time))
        for name, column in ROW_TIMES.items()
        if name in tables
    }
    config = settings.coordinator
    retention = Retention(config.retention_ms, config.offsets_retention_check_interval_ms)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    # An id is of one topic for ever, whenever it was first seen.
    for row in tables[TOPIC_IDS.name].collect():
        names[row["cluster_id"]][row["topic_id"]] = row["topic"]
    return past | folded(entries_of(past[COORDINATOR_LOG.name]), retention, names)
