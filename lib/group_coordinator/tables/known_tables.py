"""Tables as a writer saw them last: to look what came since takes less than to read them anew.

Each commit that is seen in this way stays a piece of its own in the package's memory, and an append goes through all of them. To
read a table anew puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from deltalake import DeltaTable

from group_coordinator.tables.append import write_errors

_COMMITS = 50
"""That are seen before a table is read anew: with some hundreds an append would take longer than the reading."""


class _Known(NamedTuple):
    table: DeltaTable
    read_version: int


class KnownTables:
    """What is known of each table; several threads may ask, and one of those that ask for the same reads it anew."""

    def __init__(self) -> None:
        self._known: dict[Path | str, _Known] = {}

    @contextmanager
    def newest(self, folder: Path | str) -> Iterator[DeltaTable]:
        """A table as it is now, which the block may write; if it fails, nothing is known of the table any more.

        On S3 as it was after the last block, as a look takes three requests: a commit finds out what came since.

        Raises:
            TableWriteError: there is none, or its log cannot be read.
        """
        known = self._known.pop(folder, None)
        with write_errors(folder):
            if known is None or not _is_worth_it(folder, known):
                table = DeltaTable(folder)
                known = _Known(table, table.version())
            elif isinstance(folder, Path):
                known.table.update_incremental()
        yield known.table
        self._known[folder] = known


def _is_worth_it(folder: Path | str, known: _Known) -> bool:
    """Whether to look at a table again: of one that was removed, or made anew, the package would see nothing new."""
    version = known.table.version()
    is_there = (
        not isinstance(folder, Path) or Path(folder, "_delta_log", f"{version:020}.json").exists()
    )
    return is_there and version - known.read_version < _COMMITS
