"""Keeps the tables small and quick to read: compacts their files now and then, and removes those of the past."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED

_OPTIMIZE_EVERY = 100
_VACUUM_EVERY = 250
_TABLES = (COORDINATOR_LOG, *COMPACTED)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Runs inside the compaction query, the only one that rewrites files: it cannot conflict with itself."""

    catalog: TableCatalog

    def after(self, spark: SparkSession, batch_id: int) -> None:
        """Do what is due after this compaction, one table at a time, so that none waits long."""
        table = _TABLES[batch_id % len(_TABLES)].name
        turn = batch_id // len(_TABLES) + 1
        if turn % _OPTIMIZE_EVERY == 0:
            self._optimize(spark, table)
        if turn % _VACUUM_EVERY == 0:
            self._vacuum(spark, table)

    def _optimize(self, spark: SparkSession, table: str) -> None:
        folder = self.catalog.local_folder(table)
        if folder is None:
            self.catalog.writable(spark, table).optimize().executeCompaction()
        else:
            _optimize_beside_appends(folder)

    def _vacuum(self, spark: SparkSession, table: str) -> None:
        # What is older than delta.deletedFileRetentionDuration is needed by no reader any more.
        folder = self.catalog.local_folder(table)
        if folder is None:
            self.catalog.writable(spark, table).vacuum()
        else:
            DeltaTable(folder).vacuum(dry_run=False)


def _optimize_beside_appends(folder: Path) -> None:
    """Compact a table to which another process may be appending.

    On a local disk Spark's commits are safe from each other within one JVM only: one of them could replace the append
    of another process. Those of the deltalake package never replace a commit.
    """
    DeltaTable(folder).optimize.compact()
