"""Compaction: what a stretch of the log leaves behind in groups, members and offsets.

The new content of every touched group is worked out first (compaction/fold.py), then a MERGE a table brings the tables to it.
Working it out again from tables that already have it gives no changes, so a batch may be redone from any point.
"""

from __future__ import annotations

from dataclasses import dataclass

from deltalake import Transaction
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from group_coordinator.codecs.records.record_types import RECORD_TYPES
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import local, spark
from group_coordinator.tables.compaction.offset_rows import Retention
from group_coordinator.tables.compaction.rows import LogEntry
from group_coordinator.tables.definition import GROUP_KEY
from group_coordinator.tables.driver_limits import MOST_ROWS


@dataclass(frozen=True, slots=True)
class Compaction:
    """Takes stretches of the log into the tables of a catalog; each stretch is a version of the application."""

    catalog: TableCatalog
    retention: Retention
    application: str

    def apply(self, log: DataFrame, version: int) -> None:
        """Bring the tables to what this stretch of the log says."""
        of_groups = log.where(F.col("record_type").isin(*RECORD_TYPES)).select(
            *GROUP_KEY, *LogEntry._fields
        )
        root = self.catalog.local_root
        if root is not None:
            small = of_groups.limit(MOST_ROWS + 1).toArrow()
            if small.num_rows <= MOST_ROWS:
                transaction = Transaction(self.application, version)
                local.compact(root, small, self.retention, transaction)
                return
        spark.compact(self.catalog, of_groups, self.retention, self.application, version)
