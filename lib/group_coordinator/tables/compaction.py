"""Compaction: what a stretch of the log leaves behind in groups, members and offsets.

First the new content of every touched group is worked out, then three MERGEs bring the tables to it. Working it out
again from tables that already have it gives the same content, so a batch may be redone from any point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from group_coordinator.tables import groups, members, offsets
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.changes import GROUP, group_changes, latest_records, offset_changes
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.forecast import Forecast
from group_coordinator.tables.groups import GROUPS
from group_coordinator.tables.keys import GROUP_KEY, MEMBER_KEY, OFFSET_KEY
from group_coordinator.tables.members import MEMBERS
from group_coordinator.tables.merging import Merger, due
from group_coordinator.tables.offsets import OFFSETS


@dataclass(frozen=True, slots=True)
class Compaction:
    """Takes stretches of the log into the tables of a catalog."""

    catalog: TableCatalog
    forecast: Forecast

    def apply(self, log: DataFrame, merger: Merger) -> None:
        """Bring the tables to what this stretch of the log says."""
        with _cached(latest_records(log)) as latest:
            changes = group_changes(latest)
            situations = groups.situations(
                _touched_groups(latest), changes, self._now(log, GROUPS)
            ).localCheckpoint()
            member_rows = due(members.rows_after(changes, self._now(log, MEMBERS)))
            with _cached(self._offset_rows(latest, situations)) as rows:
                group_rows = due(groups.rows_after(situations, offsets.totals(rows)))
                offset_rows = due(rows)
        merger.merge(MEMBERS, MEMBER_KEY, member_rows)
        merger.merge(OFFSETS, OFFSET_KEY, offset_rows)
        merger.merge(GROUPS, GROUP_KEY, group_rows)

    def _offset_rows(self, latest: DataFrame, situations: DataFrame) -> DataFrame:
        return offsets.rows_after(
            offset_changes(latest), self._now(latest, OFFSETS), situations, self.forecast
        )

    def _now(self, batch: DataFrame, table: TableDefinition) -> DataFrame:
        return self.catalog.read(batch.sparkSession, table.name)


def _touched_groups(latest: DataFrame) -> DataFrame:
    """One row a group of the batch, with its latest time and its latest commit."""
    is_commit = (F.col("record_type") != GROUP) & F.col("value").isNotNull()
    return latest.groupBy(*GROUP_KEY).agg(
        F.max("event_time").alias("now"),
        F.max("batch_id").alias("batch_id"),
        F.max(F.when(is_commit, F.col("position"))).alias("last_commit"),
    )


@contextmanager
def _cached(frame: DataFrame) -> Iterator[DataFrame]:
    """Worked out at most once while the block runs."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()
