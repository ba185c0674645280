"""The Delta tables, read without Spark and without a JVM."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from group_coordinator.clients.errors import ClientError
from group_coordinator.tables.roots import is_folder

TABLES = (
    *("coordinator_log", "groups", "members", "offsets", "group_configs"),
    *("dead_letters", "writers", "topic_positions"),
)
_SESSION = {"datafusion.catalog.information_schema": "true"}
"""Lets SHOW TABLES and SHOW COLUMNS work."""


class TablesUnavailableError(ClientError):
    """The Delta tables do not exist, or cannot be read from here."""


class QueryError(ClientError):
    """The SQL is wrong, or names something that is not in the tables."""


def query(root: str, sql: str) -> pa.Table:
    """Answer a SQL query (DataFusion's dialect) from the tables under a root folder.

    Raises:
        TablesUnavailableError: there are no tables under the root.
        QueryError: the query cannot be answered; the message is one line.
    """
    builder = QueryBuilder(_SESSION)
    for name, table in _open(root).items():
        builder.register(name, table)
    try:
        return pa.table(builder.execute(sql))
    except (DeltaError, pa.ArrowException) as error:
        raise QueryError(" ".join(str(error).split())) from error


def rows(root: str, sql: str) -> list[dict[str, Any]]:
    """The same as dictionaries."""
    return list(query(root, sql).to_pylist())


def _open(root: str) -> dict[str, DeltaTable]:
    if not is_folder(root):
        raise TablesUnavailableError(
            f"tables.root = {root} is the schema of a catalog, and only Spark reads that: ask there, by "
            "`group-coordinator-job sql QUERY` (jobs/ask_tables.py), or in the catalog's own SQL"
        )
    paths = {name: f"{root.rstrip('/')}/{name}" for name in TABLES}
    found = {
        name: DeltaTable(path) for name, path in paths.items() if DeltaTable.is_deltatable(path)
    }
    if not found:
        raise TablesUnavailableError(
            f"there are no tables under {root} (tables.root); `group-coordinator init` makes them"
        )
    return found
