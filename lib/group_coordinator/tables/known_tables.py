"""Tables as a writer saw them last: to look what came since takes less than to read them anew.

Each commit that is seen in this way stays a piece of its own in the package's memory, and an append goes through all of them. To
read a table anew puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, Transaction
from pyspark.sql import SparkSession

from group_coordinator.tables.append import append_on_disk, write_errors
from group_coordinator.tables.append_by_put import AppendByPut

_COMMITS = 50
"""That are seen before a table is read anew: with some hundreds an append would take longer than the reading."""


@dataclass(slots=True)
class KnownTable:
    """A table, and what was seen of its marks: to look for one the package reads every commit since the last checkpoint."""

    table: DeltaTable
    folder: Path | str
    read_version: int
    _by_put: AppendByPut | None = None
    _marks: dict[str, int | None] = field(default_factory=dict)
    _version_of_marks: int | None = None

    @property
    def version(self) -> int:
        """The last version known."""
        return self.table.version() if self._by_put is None else self._by_put.version

    def last_mark(self, application: str) -> int | None:
        """The last mark of a writer as of the table's version; None: there is none."""
        if self._version_of_marks != self.version:
            self._marks.clear()
            self._version_of_marks = self.version
        if application not in self._marks:
            self._marks[application] = self.table.transaction_version(application)
        return self._marks[application]

    def append(
        self, spark: SparkSession, rows: pa.Table | pa.RecordBatchReader, mark: Transaction
    ) -> None:
        """Append rows and this mark, after `last_mark` was asked.

        On S3 the package appends first, and settles what others have committed since the table was read; PUTs follow.

        Raises:
            TableWriteError: the table's folder does not take them.
        """
        if self._by_put is not None:
            self._by_put.append(rows, mark)
        else:
            is_first = self.version == self.read_version
            append_on_disk(self.table, self.folder, rows, mark)
            if is_first:  # a table that PUTs do not suit makes its copy once, not in each batch
                self._by_put = AppendByPut.to(spark, self.folder, self.table)
        if self.version - 1 != self._version_of_marks:
            return  # others have appended too, and may have left the same writer's mark behind this one
        self._marks[mark.app_id] = mark.version
        self._version_of_marks = self.version


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
                known = _read_anew(folder, known)
            elif isinstance(folder, Path):
                known.table.update_incremental()
        yield known
        self._known[folder] = known


def _read_anew(folder: Path | str, known: KnownTable | None) -> KnownTable:
    table = DeltaTable(folder)
    if known is not None and not isinstance(folder, Path):
        table.create_checkpoint()  # the package does so after its own commits alone
    return KnownTable(table, folder, table.version())


def _is_worth_it(folder: Path | str, known: KnownTable) -> bool:
    """Whether to look at a table again: of one that was removed, or made anew, the package would see nothing new."""
    version = known.version
    is_there = (
        not isinstance(folder, Path) or Path(folder, "_delta_log", f"{version:020}.json").exists()
    )
    return is_there and version - known.read_version < _COMMITS
