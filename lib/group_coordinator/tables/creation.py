"""Creation and upgrade of the tables, and of the views in a catalog."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import deltalake
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from group_coordinator.tables.catalog import TableCatalog, commit_of_deltalake
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import TableDefinition, column_in_sql, quoted
from group_coordinator.tables.delta_errors import open_table
from group_coordinator.tables.failed_events import DEAD_LETTERS, DENIALS
from group_coordinator.tables.group_labels import GROUP_LABELS
from group_coordinator.tables.samples import SHARE_GROUP_OFFSETS, TOPIC_POSITIONS
from group_coordinator.tables.state_tables import GROUP_CONFIGS, GROUPS, MEMBERS, OFFSETS, SNAPSHOTS
from group_coordinator.tables.storage_errors import storage_named
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE
from group_coordinator.tables.topic_ids import TOPIC_IDS
from group_coordinator.tables.views.all_views import IN_PLACE_OF_LATER_TABLES, VIEWS, named_in
from group_coordinator.tables.views.definition import SPARK, ViewDefinition

# Spark's message about a catalog without views; the error's name differs from version to version.
_NO_VIEWS = "does not support views"
_log = logging.getLogger(__name__)


def create_views(spark: SparkSession, catalog: TableCatalog) -> list[str]:
    """Create or replace the views of a schema, as their text may be of an earlier version; return their full names.

    A catalog without views is no error: `group-coordinator-job sql` defines the views itself.
    """
    try:
        for view in VIEWS:
            spark.sql(_statement(view, catalog))
    except PySparkException as error:
        if _NO_VIEWS not in str(error):
            raise
        _log.warning("%s does not support views, so it has only the tables", catalog.schema_name)
        return []
    return [catalog.location(view.name) for view in VIEWS]


def _statement(view: ViewDefinition, catalog: TableCatalog) -> str:
    sources = {name: catalog.sql_name(name) for name in view.sources}
    columns = ", ".join(
        f"`{column.name}` COMMENT {quoted(column.meaning)}" for column in view.columns
    )
    return (
        f"CREATE OR REPLACE VIEW {catalog.sql_name(view.name)} ({columns}) "
        f"COMMENT {quoted(view.meaning)} AS {view.sql(SPARK, sources)}"
    )


def create_temporary_views(spark: SparkSession, tables: Iterable[str], query: str) -> list[str]:
    """Define the views of a query in a session, under their plain names, next to its tables. Return all names."""
    names, wanted = {name: name for name in tables}, named_in(query)
    for view in VIEWS:
        sources = {**IN_PLACE_OF_LATER_TABLES, **names}
        if view.name in wanted and view.sources <= sources.keys():
            spark.sql(view.sql(SPARK, sources)).createOrReplaceTempView(view.name)
            # From here on a later view may read it.
            names[view.name] = view.name
    return [*names]


TABLES = (
    *(COORDINATOR_LOG, GROUPS, MEMBERS, OFFSETS, GROUP_CONFIGS),
    *(DEAD_LETTERS, DENIALS, WRITERS, SNAPSHOTS, TOPIC_POSITIONS, SHARE_GROUP_OFFSETS, TOPIC_IDS),
    GROUP_LABELS,
)

_LATER_TABLES: tuple[TableDefinition, ...] = (SHARE_GROUP_OFFSETS, GROUP_LABELS)
"""Tables that version 0.3.0 did not have."""

# Groups last: a reader of a group's new row finds its members and offsets.
COMPACTED = (GROUP_CONFIGS, MEMBERS, OFFSETS, GROUPS)
"""The state tables, in the order in which they are written."""

SAMPLED = (TOPIC_POSITIONS, SHARE_GROUP_OFFSETS, TOPIC_IDS)
"""Tables of samples of the topics' ends and of the offsets of share groups."""


class MissingTablesError(RuntimeError):
    """There are no tables at the settings' location."""


def create_tables(root: str, make_session: Callable[[], SparkSession]) -> list[str]:
    """Create missing tables under a root, and views in a schema; return the names, or addresses, of all. Raises StorageError."""
    # Spark, whose start takes a while, is needed only if the root is no folder of this machine.
    catalog = TableCatalog(root)
    if catalog.local_root is not None:
        with storage_named("tables.root", root):
            for table in TABLES:
                table.create_on_disk(catalog.local_root / table.name)
    else:
        spark = make_session()
        with storage_named("tables.root", root):
            _create_by_spark(spark, catalog)
    return [catalog.location(table.name) for table in TABLES]


def _create_by_spark(spark: SparkSession, catalog: TableCatalog) -> None:
    # A folder needs no schema: its tables are addressed by path.
    if catalog.is_schema:
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog.schema_name}")
    for table in TABLES:
        table.create(spark, catalog)
    if catalog.is_schema:
        create_views(spark, catalog)


def upgrade_tables(spark: SparkSession, root: str) -> None:
    """Add tables and columns of later versions to existing tables. Raises StorageError if storage or catalog refuse."""
    with storage_named("tables.root", root):
        _upgrade(spark, TableCatalog(root))


def _upgrade(spark: SparkSession, catalog: TableCatalog) -> None:
    for table in _LATER_TABLES:
        if not catalog.exists(spark, table.name):
            _create(spark, catalog, table)
    for table in TABLES:
        present = _columns(spark, catalog, table)
        # Columns are only added: an earlier version may write the same tables, and another program may have added its
        # own.
        missing = [column for column in table.schema if column.name not in present]
        if missing:
            _add(spark, catalog, table, missing)


def _columns(spark: SparkSession, catalog: TableCatalog, table: TableDefinition) -> list[str]:
    # Without Spark if possible: Spark's first look at a table takes long, and a start looks at all tables.
    folder = catalog.direct(table.name)
    if folder is not None:
        return [field.name for field in open_table(folder).schema().fields]
    return catalog.read(spark, table.name).columns


def _create(spark: SparkSession, catalog: TableCatalog, table: TableDefinition) -> None:
    folder = catalog.local_folder(table.name)
    if folder is not None:
        table.create_on_disk(folder)
    else:
        table.create(spark, catalog)


def _add(
    spark: SparkSession, catalog: TableCatalog, table: TableDefinition, missing: list[StructField]
) -> None:
    # On this machine's disk without Spark, as other commits there.
    folder = catalog.local_folder(table.name)
    if folder is not None:
        columns = deltalake.Schema.from_json(StructType(missing).json()).fields
        with commit_of_deltalake(folder):
            deltalake.DeltaTable(folder).alter.add_columns(
                columns, post_commithook_properties=LEFT_TO_MAINTENANCE
            )
        return
    in_sql = ", ".join(map(column_in_sql, missing))
    spark.sql(f"ALTER TABLE {catalog.sql_name(table.name)} ADD COLUMNS ({in_sql})")


def check_tables(spark: SparkSession, root: str) -> None:
    """Fail unless every table exists, or is of a later version than the others, and can be opened.

    Raises:
        MissingTablesError: tables are missing.
        StorageError: the storage, or the catalog, refuses, or the tables cannot be opened here.
    """
    catalog = TableCatalog(root)
    with storage_named("tables.root", root):
        missing = [
            table.name
            for table in TABLES
            if table not in _LATER_TABLES and not catalog.exists(spark, table.name)
        ]
    if missing:
        raise MissingTablesError(
            f"tables.root = {root}: {', '.join(missing)} missing; set the tables.root that "
            "has them, or run `group-coordinator init` with the same settings first, on a cluster jobs/create_tables.py"
        )
    with storage_named("tables.root", root):
        # An existing table may still be impossible to open here.
        _columns(spark, catalog, COORDINATOR_LOG)
