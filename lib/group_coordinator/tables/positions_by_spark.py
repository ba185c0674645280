"""The table topic_positions in a catalog, where only Spark writes; the folder's way is in positions_folder.py."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from group_coordinator.tables.append import append_few, spark_write_errors
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import CLUSTER_ID, quoted
from group_coordinator.tables.history.rule import midnight
from group_coordinator.tables.maintenance import Notebook
from group_coordinator.tables.position import Position
from group_coordinator.tables.positions_folder import OVERDUE_MS
from group_coordinator.tables.topic_positions import TOPIC_POSITIONS, position_rows
from group_coordinator.tables.upkeep_due import UpkeepNote

_HOUR = "unix_millis(sampled_at) div 3600000"


@dataclass(slots=True)
class PositionsBySpark:
    """One cluster's rows of the table; one process a cluster may write them.

    How far they grew thin is in the notebook, beside what it has of the table's upkeep.
    """

    spark: SparkSession
    catalog: TableCatalog
    cluster_id: str
    notebook: Notebook
    _overdue_ms: int = field(default=0, init=False)
    """Before that no row has to go."""
    _thinned_ms: int = field(default=0, init=False)

    @property
    def location(self) -> str:
        """The table's full name."""
        return self.catalog.location(TOPIC_POSITIONS.name)

    def append(self, positions: Iterable[Position], sampled_at_ms: int) -> None:
        """Add one sample, in one commit and one file.

        Raises:
            TableWriteError: the catalog does not take it.
        """
        rows = position_rows(self.cluster_id, positions, sampled_at_ms)
        append_few(rows, self.spark, self.catalog, TOPIC_POSITIONS)

    def remove_old(self, retention_ms: int, now_ms: int) -> None:
        """Remove rows that are older, once one is older by OVERDUE_MS.

        What decides is in the table, so that a restart changes nothing; it is asked again when its oldest row is due.

        Raises:
            TableWriteError: the catalog does not take it.
        """
        if now_ms <= self._overdue_ms:
            return
        with spark_write_errors(self.location):
            oldest_ms = self._oldest_ms()
            if oldest_ms is not None and oldest_ms < now_ms - retention_ms - OVERDUE_MS:
                first_kept = f"timestamp_millis({now_ms - retention_ms})"
                table = self.catalog.writable(self.spark, TOPIC_POSITIONS.name)
                table.delete(f"{self._ours} AND sampled_at < {first_kept}")
                oldest_ms = self._oldest_ms()
        self._overdue_ms = (now_ms if oldest_ms is None else oldest_ms) + retention_ms + OVERDUE_MS

    def thin(self, full_ms: int, now_ms: int) -> None:
        """Of days that are older leave each partition the first sample of an hour.

        Raises:
            TableWriteError: the catalog does not take it.
        """
        until_ms = midnight(now_ms - full_ms)
        if until_ms <= self._thinned_ms:
            return
        with spark_write_errors(self.location):
            notes = self.notebook.notes()
            note = notes.get(TOPIC_POSITIONS.name, UpkeepNote())
            if until_ms > note.thinned_ms:
                self._thin(note.thinned_ms, until_ms)
                after = replace(note, thinned_ms=until_ms)
                self.notebook.replace({**notes, TOPIC_POSITIONS.name: after})
        self._thinned_ms = until_ms

    def _thin(self, from_ms: int, until_ms: int) -> None:
        from_day, end = (f"timestamp_millis({ms})" for ms in (from_ms, until_ms))
        days = f"{self._ours} AND sampled_at >= {from_day} AND sampled_at < {end}"
        of_an_hour = Window.partitionBy("topic", "partition", F.expr(_HOUR)).orderBy("sampled_at")
        kept = (
            self._rows()
            .where(days)
            .withColumn("place", F.row_number().over(of_an_hour))
            .where("place = 1")
            .drop("place")
            .repartition(1)
            .sortWithinPartitions("sampled_at", "topic", "partition")
        )
        if not kept.isEmpty():
            writer = kept.write.format("delta").mode("overwrite").option("replaceWhere", days)
            self.catalog.save(writer, TOPIC_POSITIONS.name)

    def _oldest_ms(self) -> int | None:
        [(oldest_ms,)] = (
            self._rows().where(self._ours).agg(F.unix_millis(F.min("sampled_at"))).collect()
        )
        return None if oldest_ms is None else int(oldest_ms)

    def _rows(self) -> DataFrame:
        return self.catalog.read(self.spark, TOPIC_POSITIONS.name)

    @property
    def _ours(self) -> str:
        return f"{CLUSTER_ID.name} = {quoted(self.cluster_id)}"
