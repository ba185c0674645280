"""Makes the tables."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.dead_letters import DEAD_LETTERS
from group_coordinator.tables.groups import GROUPS
from group_coordinator.tables.members import MEMBERS
from group_coordinator.tables.offsets import OFFSETS

TABLES = (COORDINATOR_LOG, GROUPS, MEMBERS, OFFSETS, DEAD_LETTERS)
"""All tables."""

# Groups last: whoever sees a group's new row finds its members and offsets.
COMPACTED = (MEMBERS, OFFSETS, GROUPS)
"""The tables that follow from the log, in the order in which they are written."""


class MissingTablesError(RuntimeError):
    """There are no tables where the settings say."""


def create_tables(root: str, make_session: Callable[[], SparkSession]) -> list[str]:
    """Make what is missing under a root; the names, or addresses, of all tables.

    Spark, whose start takes a while, is needed only where the root is no folder of this machine.
    """
    catalog = TableCatalog(root)
    if catalog.local_root is not None:
        for table in TABLES:
            table.create_on_disk(catalog.local_root / table.name)
    else:
        _create_by_spark(make_session(), catalog)
    return [catalog.location(table.name) for table in TABLES]


def _create_by_spark(spark: SparkSession, catalog: TableCatalog) -> None:
    if catalog.is_schema:
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog.root}")
    for table in TABLES:
        table.create(spark, catalog)


def add_missing_columns(spark: SparkSession, root: str) -> None:
    """Give tables that an earlier version made the columns that came later; what is in them stays."""
    catalog = TableCatalog(root)
    for table in TABLES:
        present = catalog.read(spark, table.name).columns
        missing = [column for column in table.schema if column.name not in present]
        if missing:
            columns = ", ".join(map(_in_sql, missing))
            spark.sql(f"ALTER TABLE {catalog.sql_name(table.name)} ADD COLUMNS ({columns})")


def _in_sql(column: StructField) -> str:
    comment = column.metadata["comment"].replace("'", r"\'")
    return f"`{column.name}` {column.dataType.simpleString()} COMMENT '{comment}'"


def check_tables(spark: SparkSession, root: str) -> None:
    """Raise MissingTablesError unless every table is there."""
    catalog = TableCatalog(root)
    missing = [table.name for table in TABLES if not catalog.exists(spark, table.name)]
    if missing:
        raise MissingTablesError(
            f"tables.root = {root}: {', '.join(missing)} missing; "
            "run `group-coordinator init` with the same settings first"
        )
