"""Keeps the tables small and quick to read: compacts their files now and then, and removes those of the past."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.groups import GROUPS
from group_coordinator.tables.members import MEMBERS
from group_coordinator.tables.offsets import OFFSETS

_OPTIMIZE_EVERY = 100
_VACUUM_EVERY = 2_000
_TABLES = (COORDINATOR_LOG, GROUPS, MEMBERS, OFFSETS)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Runs inside the compaction query, the only one that rewrites files: it cannot conflict with itself."""

    catalog: TableCatalog

    def after(self, spark: SparkSession, batch_id: int) -> None:
        """Do what is due after this compaction, one table at a time, so that none waits long."""
        table = _TABLES[batch_id % len(_TABLES)]
        turn = batch_id // len(_TABLES) + 1
        if turn % _OPTIMIZE_EVERY == 0:
            self.catalog.writable(spark, table.name).optimize().executeCompaction()
        if turn % _VACUUM_EVERY == 0:
            # Older than delta.deletedFileRetentionDuration: no reader needs them any more.
            self.catalog.writable(spark, table.name).vacuum()
