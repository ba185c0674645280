"""Makes the views where Spark is: in a catalog's schema for good, elsewhere for one session."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import quoted
from group_coordinator.tables.views.all_views import VIEWS, named_in
from group_coordinator.tables.views.definition import SPARK, ViewColumn, ViewDefinition

_NO_VIEWS = "does not support views"
"""What Spark says of a catalog that knows only tables; the error's name differs from version to version."""
_log = logging.getLogger(__name__)


def create_views(spark: SparkSession, catalog: TableCatalog) -> list[str]:
    """Make the views of a schema, or make them anew: their text may be that of an earlier version. Their full names.

    A catalog that knows only tables is no reason to fail: `group-coordinator-job sql` brings the views along.
    """
    try:
        for view in VIEWS:
            spark.sql(_statement(view, catalog))
    except PySparkException as error:
        if _NO_VIEWS not in str(error):
            raise
        _log.warning("%s takes no views, so it has the tables alone", catalog.schema_name)
        return []
    return [catalog.location(view.name) for view in VIEWS]


def _statement(view: ViewDefinition, catalog: TableCatalog) -> str:
    sources = {name: catalog.sql_name(name) for name in view.sources}
    return (
        f"CREATE OR REPLACE VIEW {catalog.sql_name(view.name)} ({', '.join(map(_column, view.columns))}) "
        f"COMMENT {quoted(view.meaning)} AS {view.sql(SPARK, sources)}"
    )


def _column(column: ViewColumn) -> str:
    return f"`{column.name}` COMMENT {quoted(column.meaning)}"


def create_temporary_views(spark: SparkSession, tables: Iterable[str], query: str) -> list[str]:
    """Give a session the views that a query is about, under their plain names, as its tables have theirs. All those names."""
    names, wanted = {name: name for name in tables}, named_in(query)
    for view in VIEWS:
        if view.name in wanted and view.sources <= names.keys():
            spark.sql(view.sql(SPARK, names)).createOrReplaceTempView(view.name)
            names[view.name] = view.name
    return [*names]
