"""The tables: creation by `init` and jobs/create_tables.py, and queries by a cluster's Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.driver.checks.queries import check_query
from group_coordinator.driver.checks.storage import check_storage
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.errors import StartUpError, check_is_there
from group_coordinator.driver.session import MakeSession, session
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.compaction import entries_of
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.compaction.spark import applied
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import (
    TABLES,
    check_tables,
    create_tables,
    create_temporary_views,
)
from group_coordinator.tables.group_labels import (
    GroupLabels,
    label_rows,
    replace_labels_by_spark,
    replace_labels_in_folder,
)
from group_coordinator.tables.storage_errors import storage_named
from group_coordinator.tables.timestamps import ROW_TIMES
from group_coordinator.tables.topic_ids import TOPIC_IDS
from group_coordinator.tables.views.labels import LABELS


@reported_start_errors()
def create_tables_of(job: JobSettings, make_session: MakeSession) -> list[str]:
    """Create missing tables and return the names, or addresses, of all. Spark starts only if it is needed."""
    with ExitStack() as opened:

        def make() -> SparkSession:
            spark = opened.enter_context(session(make_session))
            check_storage(spark, job)
            return spark

        return create_tables(job.tables_root, make)


@reported_start_errors()
def replace_labels(
    job: JobSettings, labels: Iterable[GroupLabels], make_session: MakeSession
) -> None:
    """Replace the rows of the cluster in group_labels, in a single commit; Spark starts only if it is needed.

    Raises:
        StartUpError: the table does not exist, or cannot be written.
    """
    catalog, rows = TableCatalog(job.tables_root), label_rows(job.cluster_id, labels)
    folder = catalog.direct(LABELS)
    if folder is not None:
        with storage_named("tables.root", job.tables_root):
            check_is_there(job.tables_root, LABELS, is_there=DeltaTable.is_deltatable(str(folder)))
        replace_labels_in_folder(folder, job.cluster_id, rows)
        return
    with session(make_session) as spark:
        with storage_named("tables.root", job.tables_root):
            check_is_there(job.tables_root, LABELS, is_there=catalog.exists(spark, LABELS))
        replace_labels_by_spark(spark, catalog, job.cluster_id, rows)


# Setting by which ${...} in a query gives settings of Spark, and so the secrets among them.
_SUBSTITUTE = "spark.sql.variable.substitute"


@reported_start_errors()
def ask_tables(
    settings: Settings, make_session: MakeSession, query: str, as_of: datetime | None = None
) -> pa.Table:
    """Return the result of a query in Spark's SQL, in which tables and views have their plain names, as of a time or now.

    Raises:
        StartUpError: there are no tables, or the query fails, or does more than read them; the message is a single line.
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
        # The query comes from a user, and the settings may hold passwords.
        spark.conf.set(_SUBSTITUTE, "false")
        try:
            check_query(spark, query, names)
            return spark.sql(query).toArrow()
        except PySparkException as error:
            # The JVM's stack trace follows the message.
            raise StartUpError(" ".join(str(error).split("\n\nJVM")[0].split())) from error
        finally:
            spark.conf.set(_SUBSTITUTE, substitutes)


def _tables(spark: SparkSession, catalog: TableCatalog) -> dict[str, DataFrame]:
    # An earlier version may have created fewer tables.
    return {
        table.name: catalog.read(spark, table.name)
        for table in TABLES
        if catalog.exists(spark, table.name)
    }


def _as_of(
    tables: dict[str, DataFrame], time: datetime, settings: Settings
) -> dict[str, DataFrame]:
    """Return the tables at an earlier time: without later rows, and with the state tables compacted again from the log."""
    past = {
        name: tables[name].where(F.col(column) <= F.lit(time))
        for name, column in ROW_TIMES.items()
        if name in tables
    }
    config = settings.coordinator
    retention = Retention(config.retention_ms, config.offsets_retention_check_interval_ms)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    # A topic id belongs to one topic forever, whenever it was first seen.
    for row in tables[TOPIC_IDS.name].collect():
        names[row["cluster_id"]][row["topic_id"]] = row["topic"]
    if LABELS in tables:
        # Labels have no time: the present labels are those of every time.
        past[LABELS] = tables[LABELS]
    return past | applied(entries_of(past[COORDINATOR_LOG.name]), retention, names)
