"""Reader of the tables `groups` and `group_configs` without Spark, at most a second old.

Groups with a group configuration are those of the table, and those with later alterations.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from time import monotonic
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.responses import ConfigSource
from group_coordinator.gateway.job.delivery import RecentEntries
from group_coordinator.gateway.job.job_channel import ASKER, GroupRequest, JobClient, NoAnswerError
from group_coordinator.gateway.job.sightings import CONSUMERS, ListedGroup
from group_coordinator.tables.delta_errors import in_one_line, open_table

_GROUPS = """
SELECT group_id, group_type, state, protocol_type, updated_at FROM groups WHERE cluster_id = '{}'"""
_CONFIGS = "SELECT DISTINCT group_id FROM group_configs WHERE cluster_id = '{}'"


class ListedRow(NamedTuple):
    group: ListedGroup
    updated_ms: int
    """Time of the last record that changed the group, by the group's clock."""


class TableOfGroups(NamedTuple):
    rows: dict[str, ListedRow]
    compacted_ms: int
    """Time of compaction's last write. All earlier changes are in the rows, but for the last seconds."""


class GroupTables:
    """Reads a table again only if it has a new version. Calls block, and must not overlap."""

    def __init__(self, tables_root: str, cluster_id: str) -> None:
        self._root = tables_root.rstrip("/")
        self._cluster = cluster_id.replace("'", "''")
        self._groups: tuple[int, TableOfGroups] | None = None
        self._configured: tuple[int, frozenset[str]] | None = None

    def groups(self) -> TableOfGroups | None:
        """Groups of the cluster; None: there is no table. Raises DeltaError, OSError, ArrowException: it cannot be read."""
        table = self._table("groups")
        if table is None:
            return None
        if self._groups is None or self._groups[0] != table.version():
            # The time of the last commit shows how fresh the rows are. Commits since the table was opened stand before it.
            newest = table.history(1)[-1]
            rows = _query("groups", table, _GROUPS.format(self._cluster))
            found = TableOfGroups(dict(map(_row, rows)), int(newest["timestamp"]))
            self._groups = (table.version(), found)
        return self._groups[1]

    def configured(self) -> frozenset[str]:
        """Groups with a group configuration; a group need not exist. Raises the same errors."""
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


def _row(row: dict[str, Any]) -> tuple[str, ListedRow]:
    updated: datetime = row["updated_at"]
    protocol_type = CONSUMERS if row["group_type"] == CONSUMERS else row["protocol_type"] or ""
    group = ListedGroup(row["group_type"], row["state"], protocol_type)
    return row["group_id"], ListedRow(group, int(updated.timestamp() * 1000))


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
        async with self._lock:
            if monotonic() - self._read_s < _FRESH_S:
                return
            try:
                # A failure keeps both as they were: an older list is better than none.
                self.groups, self.configured = await asyncio.to_thread(
                    lambda: (self._tables.groups(), self._tables.configured())
                )
            except (DeltaError, OSError, pa.ArrowException) as error:
                _log.warning(
                    "the last list of groups stays in use, as the tables cannot be read: %s",
                    in_one_line(error),
                )
            # A failed attempt counts too, so that an unreadable store is not asked with each request.
            self._read_s = monotonic()


_GROUP_RESOURCE = 32
_MOST_BYTES = 4 * 1024 * 1024
"""Limit of the altered groups, about 18,000; the table must do for the oldest."""
_QUESTIONS = 500
"""Limit of the groups that one listing describes, the last altered first."""


class GroupSettings:
    """Requests the settings of altered groups, as the response to an alteration does not contain them."""

    def __init__(self, job: JobClient, tables: FreshTables | None, answer_timeout_ms: int) -> None:
        """Without tables, only settings since the gateway's start are known."""
        self._job = job
        self._tables = tables
        self._timeout_s = answer_timeout_ms / 1000
        self._altered: RecentEntries[str, None] = RecentEntries(_MOST_BYTES)
        self._asking: set[asyncio.Task[None]] = set()
        self._has_settings: RecentEntries[str, bool] = RecentEntries(_MOST_BYTES)

    def note_altered(self, group_id: str) -> None:
        self._altered[group_id] = None

    async def groups(self) -> list[str]:
        """Sorted ids of the groups; a group need not exist."""
        if self._tables is not None:
            await self._tables.refresh()
        await self._ask_about_altered()
        found = set() if self._tables is None else set(self._tables.configured)
        for group_id, has_settings in self._has_settings.items():
            if has_settings:
                found.add(group_id)
            else:
                found.discard(group_id)
        return sorted(found)

    async def _ask_about_altered(self) -> None:
        # Concurrent calls share the requests, and the cancellation of a caller must not cancel them.
        for group_id in [group_id for group_id, _ in self._altered.items()][-_QUESTIONS:]:
            self._altered.pop(group_id)  # a later alteration adds the group again
            task = asyncio.create_task(self._describe(group_id))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        await asyncio.gather(*map(asyncio.shield, self._asking))

    async def _describe(self, group_id: str) -> None:
        resource = {
            "resourceType": _GROUP_RESOURCE,
            "resourceName": group_id,
            "configurationKeys": None,
        }
        body = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
        request = GroupRequest(
            "DescribeConfigs", 4, group_id, body, ASKER, timeout_s=self._timeout_s
        )
        try:
            response: Body = await self._job.ask(request)
        except NoAnswerError:
            # The group stays in doubt for the next call.
            self._altered[group_id] = None
            return
        self._has_settings[group_id] = any(
            config["configSource"] == ConfigSource.GROUP_CONFIG
            for result in response.get("results", ())
            for config in result["configs"]
        )
