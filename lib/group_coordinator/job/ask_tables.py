"""Questions to the tables, answered by the Spark of a cluster: catalogs and object stores are read there."""

from __future__ import annotations

import pyarrow as pa
from pyspark.errors import PySparkException

from group_coordinator.job.refusal_causes import refusals_told
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.job.session_life import MakeSession, session
from group_coordinator.settings import JobSettings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import TABLES, check_tables
from group_coordinator.tables.view_creation import create_temporary_views


@refusals_told()
def ask_tables(job: JobSettings, make_session: MakeSession, query: str) -> pa.Table:
    """The answer to a query in Spark's SQL, in which tables and views have their plain names.

    Raises:
        JobRefusedError: there are no tables, or the query cannot be answered; the message is one line.
    """
    catalog = TableCatalog(job.tables_root)
    with session(make_session) as spark:
        check_tables(spark, job.tables_root)
        present = [table.name for table in TABLES if catalog.exists(spark, table.name)]
        for name in present:
            catalog.read(spark, name).createOrReplaceTempView(name)
        create_temporary_views(spark, present, query)
        try:
            return spark.sql(query).toArrow()
        except PySparkException as error:
            raise JobRefusedError(" ".join(str(error).split("\n\nJVM")[0].split())) from error
