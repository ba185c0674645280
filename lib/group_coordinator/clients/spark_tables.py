"""Tables in a catalog, read by the Spark session of this program: only Spark reads a catalog."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.clients import sql_tables
from group_coordinator.clients.errors import TablesUnavailableError
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.storage_errors import root_cause


def rows(root: str, table: str, sql: str) -> list[dict[str, Any]]:
    """Answer a query, which both engines accept, about a table by its plain name. Raises TablesUnavailableError: it cannot be read."""
    context: Any = SparkContext
    if context._active_spark_context is None:  # noqa: SLF001 - no public way to ask
        return sql_tables.rows(root, sql)  # its error has the remedy
    spark = SparkSession.builder.getOrCreate().newSession()  # the view is for this query alone
    try:
        TableCatalog(root).read(spark, table).createOrReplaceTempView(table)
        return [row.asDict() for row in spark.sql(sql).collect()]
    except PySparkException as error:
        raise TablesUnavailableError(f"tables.root = {root}: {root_cause(str(error))}") from error
