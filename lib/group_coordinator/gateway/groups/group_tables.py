"""Reader of the tables `groups` and `group_configs` without Spark, at most a second old."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from time import monotonic
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from group_coordinator.gateway.job.sightings import CONSUMERS, ListedGroup
from group_coordinator.tables.catalog_managed import open_table
from group_coordinator.tables.delta_errors import in_one_line

_GROUPS = """
SELECT group_id, group_type, state, protocol_type, updated_at FROM groups WHERE cluster_id = '{}'"""
_CONFIGS = "SELECT DISTINCT group_id FROM group_configs WHERE cluster_id = '{}'"


class KnownRow(NamedTuple):
    """Group of a row of `groups`."""

    group: ListedGroup
    updated_ms: int
    """Time of the last record that changed the group, by the group's clock."""


class TableOfGroups(NamedTuple):
    """Groups of the last compaction."""

    rows: dict[str, KnownRow]
    folded_ms: int
    """Time of compaction's last write. All earlier changes are in the rows, but for the last seconds."""


class GroupTables:
    """Reads a table again only if it has a new version. Calls block, and must not overlap."""

    def __init__(self, tables_root: str, cluster_id: str) -> None:
        """Take the tables of a folder, or of a URL."""
        self._root = tables_root.rstrip("/")
        self._cluster = cluster_id.replace("'", "''")
        self._groups: tuple[int, TableOfGroups] | None = None
        self._configured: tuple[int, frozenset[str]] | None = None

    def groups(self) -> TableOfGroups | None:
        """Groups of the cluster; None: there is no table.

        Raises:
            DeltaError, OSError: the table cannot be read.
        """
        table = self._table("groups")
        if table is None:
            return None
        if self._groups is None or self._groups[0] != table.version():
            # The time of the last commit shows how fresh the rows are.
            [newest] = table.history(1)
            rows = _query("groups", table, _GROUPS.format(self._cluster))
            found = TableOfGroups(dict(map(_row, rows)), int(newest["timestamp"]))
            self._groups = (table.version(), found)
        return self._groups[1]

    def configured(self) -> frozenset[str]:
        """Groups with a group configuration; a group need not exist.

        Raises:
            DeltaError, OSError: the table cannot be read.
        """
        table = self._table("group_configs")
        if table is None:
            return frozenset()
        if self._configured is None or self._configured[0] != table.version():
            rows = _query("group_configs", table, _CONFIGS.format(self._cluster))
            self._configured = (table.version(), frozenset(row["group_id"] for row in rows))
        return self._configured[1]

    def _table(self, name: str) -> DeltaTable | None:
        path = f"{self._root}/{name}"
        return open_table(path) if DeltaTable.is_deltatable(path) else None


def _query(name: str, table: DeltaTable, sql: str) -> list[dict[str, Any]]:
    builder = QueryBuilder()
    builder.register(name, table)
    return list(pa.table(builder.execute(sql)).to_pylist())


def _row(row: dict[str, Any]) -> tuple[str, KnownRow]:
    updated: datetime = row["updated_at"]
    protocol_type = CONSUMERS if row["group_type"] == CONSUMERS else row["protocol_type"] or ""
    group = ListedGroup(row["group_type"], row["state"], protocol_type)
    return row["group_id"], KnownRow(group, int(updated.timestamp() * 1000))


_FRESH_S = 1.0

_log = logging.getLogger(__name__)


class FreshTables:
    """Cache of the tables, read in a thread so that files do not block the event loop. After an error it stays as it was."""

    def __init__(self, tables: GroupTables) -> None:
        self._tables = tables
        self._read_s = -_FRESH_S
        self._lock = asyncio.Lock()
        self.groups: TableOfGroups | None = None
        """None: there is no table."""
        self.configured: frozenset[str] = frozenset()

    async def refresh(self) -> None:
        """Read new versions of the tables, at most once a second."""
        async with self._lock:
            if monotonic() - self._read_s < _FRESH_S:
                return
            try:
                # A failure keeps both as they were: an older list is better than none.
                self.groups, self.configured = await asyncio.to_thread(self._read)
            except (DeltaError, OSError) as error:
                _log.warning(
                    "the last list of groups stays in use, as the tables cannot be read: %s",
                    in_one_line(error),
                )
            # A failed attempt counts too, so that an unreadable store is not asked with each request.
            self._read_s = monotonic()

    def _read(self) -> tuple[TableOfGroups | None, frozenset[str]]:
        return self._tables.groups(), self._tables.configured()
