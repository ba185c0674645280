"""Compaction: what a stretch of the log leaves behind in groups, members, offsets and group_configs.

The new content of every touched group is worked out first (compaction/fold.py), then a MERGE a table brings the tables to it.
Working it out again from tables that already have it gives no changes, so a batch may be redone from any point.

Each cluster has a compaction of its own, which leaves the others' rows alone. A commit of somebody else that changes
files under a MERGE makes that fail: the stretch is then worked out again.
"""

from __future__ import annotations

from dataclasses import dataclass

from deltalake import Transaction
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from group_coordinator.codecs.records.record_types import COMPACTED_TYPES
from group_coordinator.tables.append import size_of
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import local, spark
from group_coordinator.tables.compaction.offset_rows import Retention
from group_coordinator.tables.compaction.rows import LogEntry
from group_coordinator.tables.conflicts import CONFLICTS
from group_coordinator.tables.definition import CLUSTER_ID, GROUP_KEY

_TRIES = Retrying(
    retry=retry_if_exception_type(CONFLICTS),
    wait=wait_random_exponential(max=10),
    stop=stop_after_attempt(8),
    reraise=True,
)


def entries_of(log: DataFrame) -> DataFrame:
    """What matters of coordinator_log here: the columns of GROUP_KEY and LogEntry, of records that groups are made of."""
    of_groups = F.col("record_type").isin(*COMPACTED_TYPES)
    return log.where(of_groups).select(*GROUP_KEY, *LogEntry._fields)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Takes stretches of the log into the tables of a catalog; each stretch is a version of the application."""

    catalog: TableCatalog
    cluster_id: str
    retention: Retention
    application: str

    def apply(self, log: DataFrame, version: int) -> None:
        """Bring the tables to what this stretch of the log says of the cluster's groups."""
        is_ours = F.col(CLUSTER_ID.name) == self.cluster_id
        _TRIES(self._apply, entries_of(log.where(is_ours)), Transaction(self.application, version))

    def _apply(self, log: DataFrame, transaction: Transaction) -> None:
        if self.catalog.direct_root is not None and size_of(log).fits_the_driver:
            local.compact(self.catalog, self.cluster_id, log.toArrow(), self.retention, transaction)
            return
        spark.compact(self.catalog, self.cluster_id, log, self.retention, transaction)
