"""Storage of samples in topic_positions and share_group_offsets: in a folder by the deltalake package, in a catalog by Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction, write_deltalake
from msgspec import convert, structs
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from group_coordinator.tables.append import (
    append_few,
    commit_rows,
    spark_write_errors,
    write_errors,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import SAMPLED
from group_coordinator.tables.definition import CLUSTER_ID, SAMPLED_AT, TableDefinition, quoted
from group_coordinator.tables.maintenance import Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote, files_held
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE, midnight
from group_coordinator.tables.timestamps import shown_ms
from group_coordinator.tables.views.definition import in_datafusion

OVERDUE_MS = 3_600_000
"""Time for which rows stay after their retention: not for every sample a file with rows of both kinds is rewritten."""
_THINNED = "thinned"
_FIRST_OF_THE_HOUR = """
SELECT * FROM (
  SELECT samples.*, row_number() OVER (
    PARTITION BY {sampled}, date_trunc('hour', sampled_at) ORDER BY sampled_at
  ) AS place
  FROM samples
  WHERE {days}
) placed
WHERE place = 1
ORDER BY sampled_at, {sampled}
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SamplesFolder:
    """A cluster's rows of a table; in an object store, which has no lock against gathering twice, only one process may write them."""

    catalog: TableCatalog
    cluster_id: str
    table: TableDefinition

    @property
    def location(self) -> str:
        return self.catalog.location(self.table.name)

    def exists(self) -> bool:
        """Return True if the table has been created. Raises TableWriteError if the folder is unreachable."""
        with write_errors(self.location):
            return DeltaTable.is_deltatable(self.location)

    def append(self, rows: pa.Table) -> None:
        """Add a sample, in a single commit. Raises TableWriteError."""
        with write_errors(self.location):
            self._append(rows)

    def remove_old(self, retention_ms: int, now_ms: int) -> int:
        """Remove rows, once one is older than the retention by OVERDUE_MS; return the number of removed rows.

        Raises:
            TableWriteError: the write to the folder failed, or another process holds its files.
        """
        # By the table alone, so that a restart changes nothing.
        with write_errors(self.location):
            table = DeltaTable(self.location)
            oldest = self._oldest(table)
            # From the files' statistics, without reading rows.
            if oldest is None or oldest >= _instant(now_ms - retention_ms - OVERDUE_MS):
                return 0
            ours = f"{CLUSTER_ID.name} = {in_datafusion(self.cluster_id)}"
            first_kept = _instant(now_ms - retention_ms).isoformat(timespec="milliseconds")
            with files_held(self.catalog, self.table):
                removed = table.delete(
                    f"{ours} AND sampled_at < '{first_kept}'",
                    post_commithook_properties=LEFT_TO_MAINTENANCE,
                )
            return int(removed["num_deleted_rows"])

    def thin(self, full_ms: int, now_ms: int) -> bool:
        """Keep only the first sample of each hour and partition, on older days; return True if there was such a day.

        Raises:
            TableWriteError: the write to the folder failed, or another process holds its files.
        """
        until_ms = midnight(now_ms - full_ms)
        with write_errors(self.location):
            table = DeltaTable(self.location)
            done_ms = table.transaction_version(self._mark(_THINNED, self.table)) or 0
            oldest = self._oldest(table)
            # By the table alone, so that a restart changes nothing: the commit's mark has the day up to which it thinned.
            if until_ms <= done_ms or oldest is None or oldest >= _instant(until_ms):
                return False
            with files_held(self.catalog, self.table):
                self._thin(table, done_ms, until_ms)
            return True

    def _thin(self, table: DeltaTable, from_ms: int, until_ms: int) -> None:
        ours = f"{CLUSTER_ID.name} = {in_datafusion(self.cluster_id)}"
        first, end = (_instant(ms).isoformat(timespec="milliseconds") for ms in (from_ms, until_ms))
        days = f"{ours} AND sampled_at >= '{first}' AND sampled_at < '{end}'"
        samples = QueryBuilder().register("samples", table)
        sampled = ", ".join(f'"{name}"' for name in _sampled_by(self.table))
        kept = pa.table(samples.execute(_FIRST_OF_THE_HOUR.format(sampled=sampled, days=days)))
        mark = CommitProperties(
            app_transactions=[Transaction(self._mark(_THINNED, self.table), until_ms)]
        )
        # Without the column `place` of the query.
        rows = kept.select(pa.schema(table.schema()).names)
        write_deltalake(
            table,
            rows,
            mode="overwrite",
            predicate=days,
            commit_properties=mark,
            post_commithook_properties=LEFT_TO_MAINTENANCE,
        )

    def _oldest(self, table: DeltaTable) -> datetime | None:
        files = pa.table(table.get_add_actions(flatten=True))
        # An empty table has no files, and so no statistics.
        if "min.sampled_at" not in files.column_names:
            return None
        ours = files.filter(pc.equal(files[f"partition.{CLUSTER_ID.name}"], self.cluster_id))
        oldest: datetime | None = pc.min(ours["min.sampled_at"]).as_py()
        return oldest

    def notebook(self) -> Notebook:
        """Return the notes of maintenance of all tables of samples: next to the rows, as there is no checkpoint."""
        return Notebook(self._read_notes, self._write_notes)

    def _read_notes(self) -> dict[str, MaintenanceNote]:
        table = DeltaTable(self.location)
        notes = {}
        for of in SAMPLED:
            known = {name: table.transaction_version(self._mark(name, of)) for name in _NOTED}
            if None not in known.values():
                notes[of.name] = convert(known, MaintenanceNote)
        return notes

    def _write_notes(self, notes: dict[str, MaintenanceNote]) -> None:
        marks = [
            Transaction(self._mark(name, of), getattr(notes[of.name], name))
            for of in SAMPLED
            if of.name in notes
            for name in _NOTED
        ]
        # A commit may have marks and no rows.
        self._append(self.table.no_rows(), CommitProperties(app_transactions=marks))

    def _mark(self, name: str, of: TableDefinition) -> str:
        return f"group-coordinator/{self.cluster_id}/{of.name}/upkeep/{name}"

    def _append(self, rows: pa.Table, properties: CommitProperties | None = None) -> None:
        commit_rows(DeltaTable(self.location), rows, properties)


_NOTED = tuple(field.name for field in structs.fields(MaintenanceNote))


def _sampled_by(table: TableDefinition) -> list[str]:
    """Return the columns that identify the subject of a sample: the key without the time."""
    return [name for name in table.key if name != SAMPLED_AT]


def _instant(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=shown_ms(milliseconds))


_HOUR = "unix_millis(sampled_at) div 3600000"


@dataclass(slots=True)
class SamplesBySpark:
    """A cluster's rows of a table, which only one process may write; the notebook has the day up to which they are thinned."""

    spark: SparkSession
    catalog: TableCatalog
    cluster_id: str
    table: TableDefinition
    notebook: Notebook
    _overdue_ms: int = field(default=0, init=False)
    """Time before which no row is overdue."""
    _thinned_ms: int = field(default=0, init=False)

    @property
    def location(self) -> str:
        return self.catalog.location(self.table.name)

    def append(self, rows: pa.Table) -> None:
        """Add a sample, in a single commit and file. Raises TableWriteError."""
        append_few(rows, self.spark, self.catalog, self.table)

    def remove_old(self, retention_ms: int, now_ms: int) -> None:
        """Remove rows, once one is older than the retention by OVERDUE_MS. Raises TableWriteError."""
        # By the table alone, which is read again when its oldest row is due: a query per sample would cost more than the sample.
        if now_ms <= self._overdue_ms:
            return
        with spark_write_errors(self.location):
            oldest_ms = self._oldest_ms()
            if oldest_ms is not None and oldest_ms < now_ms - retention_ms - OVERDUE_MS:
                first_kept = f"timestamp_millis({now_ms - retention_ms})"
                table = self.catalog.writable(self.spark, self.table.name)
                table.delete(f"{self._ours} AND sampled_at < {first_kept}")
                oldest_ms = self._oldest_ms()
        self._overdue_ms = (now_ms if oldest_ms is None else oldest_ms) + retention_ms + OVERDUE_MS

    def thin(self, full_ms: int, now_ms: int) -> None:
        """Keep only the first sample of each hour and partition, on older days. Raises TableWriteError."""
        until_ms = midnight(now_ms - full_ms)
        if until_ms <= self._thinned_ms:
            return
        with spark_write_errors(self.location):
            notes = self.notebook.notes()
            note = notes.get(self.table.name, MaintenanceNote())
            if until_ms > note.thinned_ms:
                self._thin(note.thinned_ms, until_ms)
                after = replace(note, thinned_ms=until_ms)
                self.notebook.replace({**notes, self.table.name: after})
        self._thinned_ms = until_ms

    def _thin(self, from_ms: int, until_ms: int) -> None:
        from_day, end = (f"timestamp_millis({ms})" for ms in (from_ms, until_ms))
        days = f"{self._ours} AND sampled_at >= {from_day} AND sampled_at < {end}"
        sampled = _sampled_by(self.table)
        of_an_hour = Window.partitionBy(*sampled, F.expr(_HOUR)).orderBy(SAMPLED_AT)
        kept = (
            self._rows()
            .where(days)
            .withColumn("place", F.row_number().over(of_an_hour))
            .where("place = 1")
            .drop("place")
            # A single file: many small files would cost each reader a request.
            .repartition(1)
            .sortWithinPartitions(SAMPLED_AT, *sampled)
        )
        if not kept.isEmpty():
            writer = kept.write.format("delta").mode("overwrite").option("replaceWhere", days)
            self.catalog.save(writer, self.table.name)

    def _oldest_ms(self) -> int | None:
        [(oldest_ms,)] = (
            self._rows().where(self._ours).agg(F.unix_millis(F.min("sampled_at"))).collect()
        )
        return None if oldest_ms is None else int(oldest_ms)

    def _rows(self) -> DataFrame:
        return self.catalog.read(self.spark, self.table.name)

    @property
    def _ours(self) -> str:
        return f"{CLUSTER_ID.name} = {quoted(self.cluster_id)}"
