"""Maintenance of tables: gathers and sorts their files, removes old files, and thins history.

A catalog-managed table is left to its catalog, except the history. An append never conflicts with maintenance. A MERGE may: then
Delta accepts one of the two commits, and the other is retried later; compaction maintains its tables between two of its batches.
If two processes want the same table, one waits for the next time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event

from deltalake.exceptions import DeltaError
from filelock import Timeout
from msgspec.structs import replace
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.background import repeat
from group_coordinator.settings import JobSettings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.maintenance_work import (
    DueMaintenance,
    FolderMaintenance,
    MaintenanceNote,
    MaintenanceRule,
    S3Maintenance,
    SparkMaintenance,
    TableWork,
    due,
    noted,
)
from group_coordinator.tables.storage_errors import CONFLICTS
from group_coordinator.tables.thinning import (
    GATHERED_FILE_BYTES,
    HistoryRule,
    cut_now,
    remove_old_log,
)

LOOK_EVERY_S = 60
# Each look is several requests, even while the job is idle.
_LOOK_AT_A_STORE_EVERY_S = 300
# Files that were gathered in vain occupy space for a day.
_AFTER_A_FAILURE_S = 30 * 60
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notebook:
    """Storage of the notes by table between two runs; without them a table gets its maintenance once more."""

    notes: Callable[[], dict[str, MaintenanceNote]]
    replace: Callable[[dict[str, MaintenanceNote]], None]


class Maintenance:
    """Maintenance of the tables that a process writes; a process without Spark handles only tables in folders."""

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
        self._rule = MaintenanceRule(job.maintenance_interval_ms, job.maintenance_new_files)
        self._history = HistoryRule(job.history_full_ms, job.history_hourly_ms)
        self._tables = tables
        self._notebook = notebook
        self._notes: dict[str, MaintenanceNote] | None = None
        self._interval_s = (
            LOOK_EVERY_S if self._catalog.local_root is not None else _LOOK_AT_A_STORE_EVERY_S
        )
        self._next_s = time.monotonic()
        self._files: dict[str, TableWork] = {}
        self._again_s: dict[str, float] = {}
        self._left_to_the_catalog: set[str] = set()

    def run(self, ended: Event) -> None:
        repeat(self.look_if_time, ended, self._interval_s, first_s=0)

    def look_if_time(self) -> None:
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + self._interval_s
            self.look(time.time_ns() // 1_000_000)

    def look(self, now_ms: int) -> None:
        """Do the due work. Failed work stays due, which only slows readers down."""
        for table in self._tables:
            # A failure may repeat itself, and each try writes files in vain.
            if time.monotonic() < self._again_s.get(table.name, 0):
                _log.debug("maintenance: table=%s due=none reason=recent-failure", table.name)
                continue
            try:
                self._look_at(table, now_ms)
            except (DeltaError, OSError, PySparkException, Py4JError) as failure:
                # The other process has done the work, so no pause is needed.
                if not _others_were_faster(failure):
                    self._again_s[table.name] = time.monotonic() + _AFTER_A_FAILURE_S
                if isinstance(failure, (Timeout, *CONFLICTS)):
                    _log.warning(
                        "another process changes table %s: its maintenance is tried again",
                        table.name,
                    )
                    continue
                reason = (str(failure) or type(failure).__name__).splitlines()[0]
                _log.warning(
                    "maintenance of table %s failed, and is tried again: %s", table.name, reason
                )

    def _look_at(self, table: TableDefinition, now_ms: int) -> None:
        if isinstance(self._files_of(table), FolderMaintenance):
            remove_old_log(self._catalog.location(table.name))
        # Notes are kept after each work: a crash in between repeats only the second.
        for work in (self._looked_at, self._thinned):
            # Read once: only this process writes them, and an idle job should ask its store for little.
            if self._notes is None:
                self._notes = self._notebook.notes()
            before = self._notes.get(table.name, MaintenanceNote())
            after = work(table, before, now_ms)
            if after != before:
                noted = {**self._notes, table.name: after}
                self._notebook.replace(noted)
                self._notes = noted

    def _thinned(
        self, table: TableDefinition, note: MaintenanceNote, now_ms: int
    ) -> MaintenanceNote:
        cut = cut_now(self._history, note.thinned_ms, now_ms)
        if table.name != COORDINATOR_LOG.name or cut is None:
            return note
        files = self._files_of(table)
        _log.debug("thinning: table=%s cut=%s", table.name, cut)
        files.thin(cut)
        return replace(note, thinned_ms=cut.closed_ms, files=files.now().files)

    def _looked_at(
        self, table: TableDefinition, note: MaintenanceNote, now_ms: int
    ) -> MaintenanceNote:
        files = self._files_of(table)
        found = files.now()
        need = due(note, found, self._rule, now_ms)
        _log.debug("maintenance: table=%s due=%s found=%s %s", table.name, need.name, found, note)
        if need is not DueMaintenance.NONE and self._is_left_to_the_catalog(table, files):
            return replace(note, **found._asdict(), at_ms=now_ms)
        try:
            if found.files and need in {DueMaintenance.GATHER, DueMaintenance.ALL}:
                files.put_together(is_sorted=need is DueMaintenance.ALL)
        finally:
            # Also if another process was faster: the files that this process wrote in vain are removed here.
            if need in {DueMaintenance.REMOVE, DueMaintenance.ALL}:
                files.remove_those_of_the_past()
        match need:
            case DueMaintenance.NONE:
                return noted(note, found)
            case DueMaintenance.GATHER:
                return replace(note, files=files.now().files)
            case DueMaintenance.REMOVE | DueMaintenance.ALL:
                # The commits made here are no reason to do it again.
                return replace(note, **files.now()._asdict(), at_ms=now_ms)

    def _is_left_to_the_catalog(self, table: TableDefinition, files: TableWork) -> bool:
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

    def _files_of(self, table: TableDefinition) -> TableWork:
        if table.name not in self._files:
            self._files[table.name] = self._new_files_of(table)
        return self._files[table.name]

    def _new_files_of(self, table: TableDefinition) -> TableWork:
        is_thinned = table.name == COORDINATOR_LOG.name and self._history.full_ms
        # OPTIMIZE must not join the larger files that thinning has sorted.
        size = GATHERED_FILE_BYTES if is_thinned else table.file_bytes
        # On a local disk the deltalake package does not have to be alone, unlike Spark (catalog.py).
        if self._spark is None or self._catalog.local_folder(table.name) is not None:
            return FolderMaintenance(self._catalog, table, self._cluster_id, size)
        by_spark = SparkMaintenance(self._spark, self._catalog, table, self._cluster_id, size)
        if self._catalog.direct_root is None:
            return by_spark
        return S3Maintenance(by_spark, self._catalog.location(table.name))


def _others_were_faster(failure: Exception) -> bool:
    # The other process holds the table's lock, or has removed old files of its log first.
    is_of_the_log = isinstance(failure, FileNotFoundError) and "_delta_log" in str(failure)
    return is_of_the_log or isinstance(failure, Timeout)
