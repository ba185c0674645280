"""Tables as a writer saw them last: to look what came since takes less than to read them anew.

Each commit that is seen in this way stays a piece of its own in the package's memory, and an append goes through all of them. To
read a table anew puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deltalake import DeltaTable, Transaction

from group_coordinator.tables.append import write_errors

_COMMITS = 50
"""That are seen before a table is read anew: with some hundreds an append would take longer than the reading."""


@dataclass(slots=True)
class KnownTable:
    """A table, and what was seen of its marks: to look for one the package reads every commit since the last checkpoint."""

    table: DeltaTable
    read_version: int
    _marks: dict[str, int | None] = field(default_factory=dict)
    _version_of_marks: int | None = None

    def last_mark(self, application: str) -> int | None:
        """The last mark of a writer as of the table's version; None: there is none."""
        if self._version_of_marks != self.table.version():
            self._marks.clear()
            self._version_of_marks = self.table.version()
        if application not in self._marks:
            self._marks[application] = self.table.transaction_version(application)
        return self._marks[application]

    def appended(self, mark: Transaction) -> None:
        """Say that `table` was appended to with this mark, after `last_mark` was asked."""
        if self.table.version() - 1 != self._version_of_marks:
            return  # others have appended too, and may have left the same writer's mark behind this one
        self._marks[mark.app_id] = mark.version
        self._version_of_marks = self.table.version()


class KnownTables:
    """What is known of each table; several threads may ask, and one of those that ask for the same reads it anew."""

    def __init__(self) -> None:
        self._known: dict[Path | str, KnownTable] = {}

    @contextmanager
    def newest(self, folder: Path | str) -> Iterator[KnownTable]:
        """A table as it is now, which the block may write; if it fails, nothing is known of the table any more.

        On S3 as it was after the last block, as a look takes three requests: a commit finds out what came since.

        Raises:
            TableWriteError: there is none, or its log cannot be read.
        """
        known = self._known.pop(folder, None)
        with write_errors(folder):
            if known is None or not _is_worth_it(folder, known):
                table = DeltaTable(folder)
                known = KnownTable(table, table.version())
            elif isinstance(folder, Path):
                known.table.update_incremental()
        yield known
        self._known[folder] = known


def _is_worth_it(folder: Path | str, known: KnownTable) -> bool:
    """Whether to look at a table again: of one that was removed, or made anew, the package would see nothing new."""
    version = known.table.version()
    is_there = (
        not isinstance(folder, Path) or Path(folder, "_delta_log", f"{version:020}.json").exists()
    )
    return is_there and version - known.read_version < _COMMITS
