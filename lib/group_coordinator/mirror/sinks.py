"""Writer of the mirror's batches: a row for each message to coordinator_log, then invalid messages to dead_letters.

Spark commits a batch after `MirrorSinks.write` returns, and repeats it after a failure. The messages are then the same, so the rows
are; a table takes a batch once (tables/writer.py). The log is written first: a reader of a dead letter finds its row too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.core.model.records import Reason
from group_coordinator.mirror.commit_columns import MOVED
from group_coordinator.mirror.group_so_far import EXPLAINED
from group_coordinator.tables.append import MOST_ROWS, Size, SparkRows
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, INGESTED_AT, TableDefinition
from group_coordinator.tables.failed_events import DEAD_LETTERS
from group_coordinator.tables.writer import Writer

Gone = Callable[[SparkSession, int], DataFrame | None]
"""Returns tombstones that come in front of a batch (continuity.py), by its number in the tables; None: there are none."""
Explain = Callable[[DataFrame, int, DataFrame | None], DataFrame]
"""Adds the inferred reasons to the tombstones of a batch, by its number in the tables; the last argument has gap tombstones."""


_log = logging.getLogger(__name__)


class GroupsMovedError(RuntimeError):
    """The brokers have begun to use the new number of partitions (commit_columns.py)."""


class MirroredBatch(NamedTuple):
    """Counts of a batch; `newest_ms` is the time of its last record, None: it had none."""

    records: int
    dead_letters: int
    newest_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorSinks:
    """Writes decoded batches. The same batch may be written again."""

    writer: Writer
    topic: str
    explain: Explain
    report: Callable[[int, MirroredBatch], None]
    gone: Gone
    first_batch_id: int = 0
    """Number of Spark's batch 0 in the tables: see Origin in checkpoint/layout.py."""
    topic_id: str | None = None

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Append the rows that earlier attempts of this batch did not append.

        Raises:
            GroupsMovedError: nothing is appended, as most misplaced records will be in the right partition after a restart.
        """
        in_tables = self.first_batch_id + batch_id
        # The cache is on disk, as a first batch may have gigabytes.
        batch.persist(StorageLevel.DISK_ONLY)
        try:
            volume = _volume(batch)
            _log.debug("batch=%d volume=%s", in_tables, volume)
            if volume.moved:
                raise GroupsMovedError(f"batch {batch_id} has records of groups that have moved")
            self._append_log(batch, volume, in_tables)
            if volume.found.dead_letters:
                letters = self._letters(batch)
                self._append(letters, volume.letters, DEAD_LETTERS, in_tables)
            self.report(in_tables, volume.found)
        finally:
            batch.unpersist()

    def _append_log(self, batch: DataFrame, volume: _Volume, in_tables: int) -> None:
        gone = self.gone(batch.sparkSession, in_tables)
        if gone is None:
            if volume.log.rows:
                rows = self._explained(batch, volume, in_tables, None)
                self._append(rows, volume.log, COORDINATOR_LOG, in_tables)
            return
        _log.debug("batch=%d gap_repair=True append=spark", in_tables)
        # Persisted, as a gap repair reads the whole topic.
        gone = gone.persist(StorageLevel.DISK_ONLY)
        try:
            rows = gone.unionByName(self._explained(batch, volume, in_tables, gone))
            # Their number is unknown, so Spark writes them.
            size = Size(MOST_ROWS + 1, volume.log.bytes)
            self._append(rows, size, COORDINATOR_LOG, in_tables)
        finally:
            gone.unpersist()

    def _append(self, rows: DataFrame, size: Size, table: TableDefinition, in_tables: int) -> None:
        self.writer.append_once(SparkRows(rows, size), table, in_tables)

    def _explained(
        self, batch: DataFrame, volume: _Volume, in_tables: int, gone: DataFrame | None
    ) -> DataFrame:
        rows = self._log(batch)
        # Most batches have no tombstones, and the inference costs several queries.
        return self.explain(rows, in_tables, gone) if volume.tombstones else rows

    def _log(self, batch: DataFrame) -> DataFrame:
        constants = {
            "cluster_id": F.lit(self.writer.cluster_id),
            "reason": F.lit(Reason.MIRRORED),
            "principal": F.lit(None).cast("string"),
            "source_topic": F.lit(self.topic),
            "source_topic_id": F.lit(self.topic_id).cast("string"),
            "inferred": F.lit(False),  # noqa: FBT003 - Spark's signature
        }
        return columns_of(COORDINATOR_LOG, batch, constants)

    def _letters(self, batch: DataFrame) -> DataFrame:
        others = {
            "cluster_id": F.lit(self.writer.cluster_id),
            "source_topic": F.lit(self.topic),
            **{name: F.col(f"letter.{name}") for name in ("reason", "key", "value")},
        }
        return columns_of(DEAD_LETTERS, batch.where("letter IS NOT NULL"), others)


def columns_of(table: TableDefinition, rows: DataFrame, others: dict[str, Column]) -> DataFrame:
    """Return the table's columns, from the rows or `others`, without those of the batch, which the writer adds."""
    names = [name for name in table.schema.names if name not in {BATCH_ID.name, INGESTED_AT.name}]
    return rows.select(*(others.get(name, F.col(name)).alias(name) for name in names))


class _Volume(NamedTuple):
    found: MirroredBatch
    tombstones: int
    log: Size
    letters: Size
    moved: int


_VOLUME = (
    "count_if(letter IS NULL) AS records",
    "count_if(letter IS NOT NULL) AS dead_letters",
    f"count_if(value IS NULL AND record_type IN {EXPLAINED}) AS tombstones",
    "unix_millis(max(event_time)) AS newest_ms",
    "coalesce(sum(octet_length(key) + coalesce(octet_length(value), 0)), 0) AS log_bytes",
    "coalesce(sum(octet_length(letter.key) + coalesce(octet_length(letter.value), 0)), 0) AS letter_bytes",
    f"count_if(startswith(letter.reason, '{MOVED}')) AS moved",
)


def _volume(batch: DataFrame) -> _Volume:
    [row] = batch.selectExpr(*_VOLUME).collect()
    return _Volume(
        MirroredBatch(row.records, row.dead_letters, row.newest_ms),
        row.tombstones,
        Size(row.records + row.dead_letters, row.log_bytes),
        Size(row.dead_letters, row.letter_bytes),
        row.moved,
    )
