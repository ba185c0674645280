"""Keeps tables quick to read and small: puts their files together, sorts them, removes those of the past, thins history.

A catalog-managed table is left to its catalog, but for the history, which follows from our own settings.

An append never conflicts with it. A MERGE may: then Delta takes one of the two commits, and who loses tries again
later; compaction looks after its tables between two of its batches. Of two processes that want the same table one waits
for the next time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event

from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from filelock import Timeout
from msgspec.structs import replace
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.catalog_managed import FEATURES
from group_coordinator.tables.commit_lock import commit_of_deltalake
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import CLUSTER_ID, TableDefinition, quoted
from group_coordinator.tables.files_held import files_held
from group_coordinator.tables.history.rule import Cut, HistoryRule, cut_now
from group_coordinator.tables.history.thinned_log import GATHERED_FILE_BYTES
from group_coordinator.tables.history.thinning_by_spark import thin_by_spark
from group_coordinator.tables.history.thinning_in_folder import thin_in_folder
from group_coordinator.tables.old_log import remove_old_log
from group_coordinator.tables.session_conf import session_conf
from group_coordinator.tables.upkeep_due import (
    TableFiles,
    Upkeep,
    UpkeepNote,
    UpkeepRule,
    due,
    noted,
)

LOOK_EVERY_S = 60
_AFTER_A_FAILURE_S = 30 * 60
"""A file that was put together for nothing takes its place until a day is over."""
_FILE_BYTES = (
    "spark.databricks.delta.optimize.minFileSize",
    "spark.databricks.delta.optimize.maxFileSize",
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notebook:
    """Where the notes are kept between two runs; without them a table has its upkeep once more."""

    notes: Callable[[], dict[str, UpkeepNote]]
    """By table."""
    replace: Callable[[dict[str, UpkeepNote]], None]
    """Keep these."""


class Maintenance:
    """Of the tables that one process writes; a process without Spark looks after tables in folders alone."""

    def __init__(
        self,
        spark: SparkSession | None,
        job: JobSettings,
        tables: Sequence[TableDefinition],
        notebook: Notebook,
    ) -> None:
        self._spark = spark
        self._catalog = TableCatalog(job.tables_root)
        self._cluster_id = job.cluster_id
        self._rule = UpkeepRule(job.maintenance_interval_ms, job.maintenance_new_files)
        self._history = HistoryRule(job.history_full_ms, job.history_hourly_ms)
        self._tables = tables
        self._notebook = notebook
        self._next_s = time.monotonic()
        self._again_s: dict[str, float] = {}
        self._left_to_the_catalog: set[str] = set()

    def run(self, ended: Event) -> None:
        """Look once a minute until `ended` is set, in a thread of its own."""
        while not ended.is_set():
            self.look_if_time()
            ended.wait(LOOK_EVERY_S)

    def look_if_time(self) -> None:
        """Look, unless a minute has not passed since the last time."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + LOOK_EVERY_S
            self.look(_now_ms())

    def look(self, now_ms: int) -> None:
        """Do what is due; what fails is due again, and hurts nothing but the speed of readers until then."""
        for table in self._tables:
            if time.monotonic() < self._again_s.get(table.name, 0):
                continue
            try:
                self._look_at(table, now_ms)
            except (DeltaError, OSError, PySparkException, Py4JError) as failure:
                reason = (str(failure) or type(failure).__name__).splitlines()[0]
                if not _others_were_faster(failure):
                    self._again_s[table.name] = time.monotonic() + _AFTER_A_FAILURE_S
                _log.warning("upkeep of table %s failed, and comes again: %s", table.name, reason)

    def _look_at(self, table: TableDefinition, now_ms: int) -> None:
        if isinstance(self._files_of(table), _InFolder):
            remove_old_log(self._catalog.location(table.name))
        for work in (self._looked_at, self._thinned):
            notes = self._notebook.notes()
            before = notes.get(table.name, UpkeepNote())
            after = work(table, before, now_ms)
            if after != before:
                self._notebook.replace({**notes, table.name: after})

    def _thinned(self, table: TableDefinition, note: UpkeepNote, now_ms: int) -> UpkeepNote:
        cut = cut_now(self._history, note.thinned_ms, now_ms)
        if table.name != COORDINATOR_LOG.name or cut is None:
            return note
        files = self._files_of(table)
        files.thin(cut)
        return replace(note, thinned_ms=cut.closed_ms, files=files.now().files)

    def _looked_at(self, table: TableDefinition, note: UpkeepNote, now_ms: int) -> UpkeepNote:
        files = self._files_of(table)
        found = files.now()
        need = due(note, found, self._rule, now_ms)
        if need is not Upkeep.NONE and self._is_left_to_the_catalog(table, files):
            return replace(note, **found._asdict(), at_ms=now_ms)
        try:
            if need in {Upkeep.GATHER, Upkeep.ALL}:
                files.put_together(is_sorted=need is Upkeep.ALL)
        finally:
            # Also where somebody else was faster: what that has written for nothing goes here.
            if need in {Upkeep.REMOVE, Upkeep.ALL}:
                files.remove_those_of_the_past()
        match need:
            case Upkeep.NONE:
                return noted(note, found)
            case Upkeep.GATHER:
                return replace(note, files=files.now().files)
            case Upkeep.REMOVE | Upkeep.ALL:
                # What was committed here is no reason to do it again.
                return replace(note, **files.now()._asdict(), at_ms=now_ms)

    def _is_left_to_the_catalog(self, table: TableDefinition, files: _InFolder | _BySpark) -> bool:
        if table.name in self._left_to_the_catalog:
            return True
        if not files.is_catalog_managed():
            return False
        self._left_to_the_catalog.add(table.name)
        _log.info(
            "table %s is catalog-managed: OPTIMIZE, VACUUM and old commits are left to its catalog",
            self._catalog.location(table.name),
        )
        return True

    def _files_of(self, table: TableDefinition) -> _InFolder | _BySpark:
        is_thinned = table.name == COORDINATOR_LOG.name and self._history.full_ms
        size = GATHERED_FILE_BYTES if is_thinned else table.file_bytes
        if self._spark is None or self._catalog.local_folder(table.name) is not None:
            return _InFolder(self._catalog, table, self._cluster_id, size)
        return _BySpark(self._spark, self._catalog, table, self._cluster_id, size)


@dataclass(frozen=True, slots=True)
class _InFolder:
    """A table on this machine's disk, which Spark had better leave alone, or in a folder of a process without Spark.

    Spark's commits have to be alone on a disk (commit_lock.py), and appends would have to wait.
    """

    catalog: TableCatalog
    table: TableDefinition
    cluster_id: str
    file_bytes: int

    def now(self) -> TableFiles:
        table = self._delta()
        return TableFiles(len(table.file_uris()), table.version())

    def is_catalog_managed(self) -> bool:
        return False  # such a table is not opened by its folder

    def put_together(self, *, is_sorted: bool) -> None:
        """Fail if another process is at it.

        The deltalake package does not notice that another OPTIMIZE has replaced the same files: rows would be there twice.

        Raises:
            Timeout: another process holds the table's lock.
        """
        with files_held(self.catalog, self.table), self._commit():
            self._put_together(is_sorted=is_sorted)

    def _put_together(self, *, is_sorted: bool) -> None:
        table, size = self._delta(), self.file_bytes
        is_partitioned = bool(table.metadata().partition_columns)
        ours = [(CLUSTER_ID.name, "=", self.cluster_id)] if is_partitioned else None
        if is_sorted and self.table.sorted_by:
            table.optimize.z_order(self.table.sorted_by, ours, target_size=size)
        else:
            table.optimize.compact(ours, target_size=size)

    def thin(self, cut: Cut) -> None:
        """Raise Timeout if another process replaces files."""
        with files_held(self.catalog, self.table), self._commit():
            thin_in_folder(self.catalog.location(self.table.name), self.cluster_id, cut)

    def remove_those_of_the_past(self) -> None:
        # In full: the log alone does not know any more what became too old before its last checkpoint.
        with self._commit():
            self._delta().vacuum(dry_run=False, full=True)

    def _commit(self) -> AbstractContextManager[None]:
        return commit_of_deltalake(self.catalog.local_folder(self.table.name))

    def _delta(self) -> DeltaTable:
        return DeltaTable(self.catalog.location(self.table.name))


@dataclass(frozen=True, slots=True)
class _BySpark:
    """A table anywhere else."""

    spark: SparkSession
    catalog: TableCatalog
    table: TableDefinition
    cluster_id: str
    file_bytes: int

    def now(self) -> TableFiles:
        table = self._delta()
        (files,) = table.detail().select("numFiles").collect()[0]
        (version,) = table.history(1).select("version").collect()[0]
        return TableFiles(files, version)

    def is_catalog_managed(self) -> bool:
        (features,) = self._delta().detail().select("tableFeatures").collect()[0]
        return not FEATURES.isdisjoint(features or ())

    def put_together(self, *, is_sorted: bool) -> None:
        sizes = dict.fromkeys(_FILE_BYTES, str(self.file_bytes))
        columns = self._delta().detail().select("partitionColumns", "clusteringColumns")
        is_partitioned, is_clustered = map(bool, columns.collect()[0])
        optimize = self._delta().optimize()
        if is_partitioned:
            optimize = optimize.where(f"{CLUSTER_ID.name} = {quoted(self.cluster_id)}")
        with session_conf(self.spark, sizes):
            # Version 0.2.0 made tables that are not on a local disk clustered: Delta sorts these itself.
            if is_sorted and self.table.sorted_by and not is_clustered:
                optimize.executeZOrderBy(*self.table.sorted_by)
            else:
                optimize.executeCompaction()

    def thin(self, cut: Cut) -> None:
        thin_by_spark(self.spark, self.catalog, self.cluster_id, cut)

    def remove_those_of_the_past(self) -> None:
        self._delta().vacuum()

    def _delta(self) -> SparkTable:
        return self.catalog.writable(self.spark, self.table.name)


def _others_were_faster(failure: Exception) -> bool:
    """Whether another process holds the table, or has removed old files of its log that were to be removed here."""
    is_of_the_log = isinstance(failure, FileNotFoundError) and "_delta_log" in str(failure)
    return is_of_the_log or isinstance(failure, Timeout)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
