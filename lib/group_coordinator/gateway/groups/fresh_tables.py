"""The tables of groups as they were up to a second ago."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

from deltalake.exceptions import DeltaError

from group_coordinator.gateway.groups.group_tables import GroupTables, TableOfGroups
from group_coordinator.tables.delta_errors import in_one_line

_FRESH_S = 1.0

_log = logging.getLogger(__name__)


class FreshTables:
    """Reads in a thread, as the event loop must not wait for files; what cannot be read stays as it was."""

    def __init__(self, tables: GroupTables) -> None:
        self._tables = tables
        self._read_s = -_FRESH_S
        self._lock = asyncio.Lock()
        self.groups: TableOfGroups | None = None
        """None: there is no table."""
        self.configured: frozenset[str] = frozenset()

    async def refresh(self) -> None:
        """Read what is new."""
        async with self._lock:
            if monotonic() - self._read_s < _FRESH_S:
                return
            try:
                self.groups, self.configured = await asyncio.to_thread(self._read)
            except (DeltaError, OSError) as error:
                _log.warning(
                    "groups are listed as they were, the tables cannot be read: %s",
                    in_one_line(error),
                )
            self._read_s = monotonic()

    def _read(self) -> tuple[TableOfGroups | None, frozenset[str]]:
        return self._tables.groups(), self._tables.configured()
