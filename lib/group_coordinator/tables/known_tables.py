"""Tables on this machine's disk as a writer saw them last: to look what came since takes a third of reading them anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable

from group_coordinator.tables.append import write_errors


class KnownTables:
    """What is known of each table; several threads may ask, and one of those that ask for the same reads it anew."""

    def __init__(self) -> None:
        self._known: dict[Path, DeltaTable] = {}

    @contextmanager
    def newest(self, folder: Path) -> Iterator[DeltaTable]:
        """A table as it is now, which the block may write; if it fails, nothing is known of the table any more.

        Raises:
            TableWriteError: there is none, or its log cannot be read.
        """
        table = self._known.pop(folder, None)
        with write_errors(folder):
            if table is None or not _has_commit(folder, table.version()):
                table = DeltaTable(folder)
            else:
                table.update_incremental()
        yield table
        self._known[folder] = table


def _has_commit(folder: Path, version: int) -> bool:
    """Whether the table is still there: of one that was removed, or made anew, the package sees nothing new."""
    return Path(folder, "_delta_log", f"{version:020}.json").exists()
