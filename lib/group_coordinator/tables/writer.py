"""The writer of a cluster's rows: a table takes each of its batches once.

A table is read again only after other processes' commits: each commit seen in this way stays a separate piece in the package's
memory, until a new read joins them. A mark is one number: the writer's epoch (claims.py) above the batch. So the next batch has a
higher mark, and so has every batch of the next owner. An equal mark in the table is a repeated batch. A higher mark is an error:
the checkpoint is older than the table, or another checkpoint has taken over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, Transaction
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.append import (
    AppendByPut,
    Rows,
    TableWriteError,
    append_frame,
    append_on_disk,
    append_rows,
    write_errors,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import BATCH_ID, INGESTED_AT, TableDefinition
from group_coordinator.tables.delta_errors import in_one_line

# Commits seen before a table is read again. On S3 it gets a checkpoint then, beside the next batches: every reader reads each commit
# since, and with 50 of them compaction asked for twice as many.
_COMMITS = 20
_checkpoints = ThreadPoolExecutor(1, "delta-checkpoint")
_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class CachedTable:
    """A table, and its known marks: to look for a mark the package reads every commit since the last checkpoint."""

    table: DeltaTable
    folder: Path | str
    read_version: int
    _by_put: AppendByPut | None = None
    _checkpoint: Future[None] | None = None
    _marks: dict[str, int | None] = field(default_factory=dict)
    _version_of_marks: int | None = None

    @property
    def version(self) -> int:
        return self.table.version() if self._by_put is None else self._by_put.version

    @property
    def way(self) -> str:
        return "deltalake" if self._by_put is None else "put"

    def last_mark(self, application: str) -> int | None:
        """Return the last mark of a writer as of the table's version; None: there is none."""
        if self._version_of_marks != self.version:
            self._marks.clear()
            self._version_of_marks = self.version
        if application not in self._marks:
            self._marks[application] = self.table.transaction_version(application)
        return self._marks[application]

    def append(
        self, spark: SparkSession, rows: pa.Table | pa.RecordBatchReader, mark: Transaction
    ) -> None:
        """Append rows and this mark, after a call of `last_mark`. Raises TableWriteError if the write fails."""
        # On S3 the package appends first, and resolves other processes' commits since the table was read; PUTs follow.
        if self._by_put is not None:
            self._by_put.append(rows, mark)
        else:
            is_first = self.version == self.read_version
            append_on_disk(self.table, self.folder, rows, mark)
            # A table that PUTs do not suit makes its copy once, not in each batch.
            if is_first:
                self._by_put = AppendByPut.to(spark, self.folder, self.table)
        if self.version - 1 != self._version_of_marks:
            # Other processes have appended too, and may have left the same writer's mark behind this mark.
            return
        self._marks[mark.app_id] = mark.version
        self._version_of_marks = self.version

    def end_block(self) -> None:
        """On S3: begin a checkpoint of the table's log if it is due."""
        if isinstance(self.folder, Path) or self.version - self.read_version < _COMMITS:
            return
        # It takes some twenty requests in turn. A slow store gets fewer checkpoints.
        if self._checkpoint is None or self._checkpoint.done():
            self._checkpoint = _checkpoints.submit(_make_checkpoint, self.folder)
        if self._by_put is not None:
            self._by_put.shorten()
            self.read_version = self.version


class TableCache:
    """Cache of tables for several threads; of threads that need the same table, each reads its own."""

    def __init__(self) -> None:
        self._known: dict[Path | str, CachedTable] = {}

    @contextmanager
    def newest(self, folder: Path | str) -> Iterator[CachedTable]:
        """Yield the present table, which the block may write; a failure drops its cached state. Raises TableWriteError."""
        # On S3 it is the table after the last block, as a look takes three requests: a commit notices newer commits.
        # Taken out during the block: after a failure nothing is known, and another thread reads the table itself.
        known = self._known.pop(folder, None)
        with write_errors(folder):
            if known is None or not _is_worth_it(folder, known):
                _log.debug("table=%s read=whole", folder)
                table = DeltaTable(folder)
                known = CachedTable(table=table, folder=folder, read_version=table.version())
            # On a disk a look at new commits is cheap.
            elif isinstance(folder, Path):
                known.table.update_incremental()
        yield known
        known.end_block()
        self._known[folder] = known


def _make_checkpoint(folder: Path | str) -> None:
    # The package does so only after its own commits. Without a checkpoint the table is as right, and slower to read.
    try:
        DeltaTable(folder).create_checkpoint()
    except (DeltaError, OSError) as error:
        _log.warning("%s has no new checkpoint of its log: %s", folder, in_one_line(error))


def _is_worth_it(folder: Path | str, known: CachedTable) -> bool:
    # Of a removed or recreated table the package would see no change.
    version = known.version
    is_there = (
        not isinstance(folder, Path) or Path(folder, "_delta_log", f"{version:020}.json").exists()
    )
    return is_there and version - known.read_version < _COMMITS


# Batches of one epoch: ten batches a second for three thousand years.
_BATCHES = 1 << 40


class NotTheWriterError(RuntimeError):
    """The table has batches that this checkpoint does not know. The message has the cause and the remedy."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Appends the batches of a checkpoint."""

    catalog: TableCatalog
    cluster_id: str
    epoch: int
    _known: TableCache = field(default_factory=TableCache, repr=False, compare=False)

    def append_once(self, rows: Rows, table: TableDefinition, batch_id: int) -> None:
        """Append the rows, with batch and time, unless the table has the batch.

        Raises:
            NotTheWriterError: the table has a later batch, or a batch of a later writer. Of a table in a catalog,
                or on a store other than S3, Delta skips the batch instead, and the job itself looks for later writers.
            TableWriteError: the write to the table's folder failed.
        """
        folder = self.catalog.direct(table.name)
        if folder is None:
            _log.debug("batch=%d table=%s append=spark reason=catalog", batch_id, table.name)
            self.append(rows.frame(), table, batch_id)
        elif isinstance(folder, Path):
            self._append_directly(rows, table, batch_id, folder)
        else:
            try:
                self._append_directly(rows, table, batch_id, folder)
            except TableWriteError as error:
                # The commit may have succeeded, and only its response was lost: then the table has the mark.
                _log.debug("batch=%d table=%s append=again reason=%s", batch_id, table.name, error)
                self._append_directly(rows, table, batch_id, folder)

    def _append_directly(
        self, rows: Rows, table: TableDefinition, batch_id: int, folder: Path | str
    ) -> None:
        mark = self._mark(table, batch_id)
        with self._known.newest(folder) as known:
            if _has_batch(table, known.last_mark(mark.app_id), mark):
                _log.debug("batch=%d table=%s append=none reason=repeated", batch_id, table.name)
                return
            if rows.fits_the_driver:
                _log.debug("batch=%d table=%s append=%s", batch_id, table.name, known.way)
                new = _of_batch(rows.arrow(), table, batch_id)
                known.append(rows.spark, new, mark)
            else:
                _log.debug("batch=%d table=%s append=spark reason=size", batch_id, table.name)
                self.append(rows.frame(), table, batch_id)

    def shut_out_earlier_ones(self, spark: SparkSession, table: TableDefinition) -> None:
        """Leave a mark without rows, so that the table rejects an earlier writer's batches."""
        _log.debug("fence: table=%s epoch=%d", table.name, self.epoch)
        append_rows(table.no_rows(), spark, self.catalog, table, self._mark(table, 0))

    def append(self, rows: DataFrame, table: TableDefinition, batch_id: int) -> None:
        """Append by Spark, in any thread, without the checks of append_once, which the caller must have done."""
        by_batch = {
            BATCH_ID.name: F.lit(batch_id).cast("long"),
            INGESTED_AT.name: F.current_timestamp(),
        }
        mark = self._mark(table, batch_id)
        append_frame(rows.withColumns(by_batch), self.catalog, table, mark)

    def _mark(self, table: TableDefinition, batch_id: int) -> Transaction:
        application = f"group-coordinator/{self.cluster_id}/{table.name}"
        return Transaction(application, self.epoch * _BATCHES + batch_id)


def _of_batch(
    rows: pa.RecordBatchReader, definition: TableDefinition, batch_id: int
) -> pa.RecordBatchReader:
    # Here and not in Spark's plan, which Spark would then compile again for every batch.
    now_us = time.time_ns() // 1_000
    constants = {
        BATCH_ID.name: pa.scalar(batch_id, pa.int64()),
        INGESTED_AT.name: pa.scalar(now_us, pa.timestamp("us", "UTC")),
    }
    schema = definition.no_rows().schema

    def whole(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            pa.repeat(constants[name], batch.num_rows) if name in constants else batch[name]
            for name in schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, map(whole, rows))


def _has_batch(table: TableDefinition, last: int | None, mark: Transaction) -> bool:
    if last is None or last < mark.version:
        return False
    if last == mark.version:
        return True
    epoch, batch_id = divmod(last, _BATCHES)
    our_epoch, our_batch_id = divmod(mark.version, _BATCHES)
    if epoch > our_epoch:
        raise NotTheWriterError(
            f"table {table.name}: another checkpoint has taken over (its epoch is {epoch}, ours {our_epoch}), and "
            "this run ends; the table writers names the new owner"
        )
    raise NotTheWriterError(
        f"table {table.name} has batch {batch_id}, and this run is at {our_batch_id}: another run works on "
        "this checkpoint, or the checkpoint is older than the table. Stop every other run, and start again: "
        "the start names the cause"
    )
