"""Maintenance of a table's files: when it is due, and its work, by the deltalake package if possible, otherwise by Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from delta.tables import DeltaTable as SparkTable
from deltalake import DeltaTable
from filelock import FileLock
from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import SparkSession

from group_coordinator.tables.catalog import TableCatalog, commit_of_deltalake
from group_coordinator.tables.definition import CLUSTER_ID, TableDefinition, quoted
from group_coordinator.tables.delta_errors import FEATURES
from group_coordinator.tables.thinning import (
    ThinningLimits,
    remove_old_log,
    thin_by_spark,
    thin_in_folder,
)


def files_held(catalog: TableCatalog, table: TableDefinition) -> AbstractContextManager[object]:
    """Hold the files of a table during the block; an object store has no such lock. Raises Timeout if another process does."""
    folder = catalog.local_folder(table.name)
    if folder is None:
        return nullcontext()
    return FileLock(folder.with_name(f".{table.name}.lock"), blocking=False)


@contextmanager
def session_conf(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set Spark settings during the block. A session outlives its batch: remaining settings would apply to later writes."""
    # One call into the JVM instead of one per key.
    all_of_them = session.conf.getAll
    before = {key: all_of_them[key] for key in settings if key in all_of_them}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            if key in before:
                session.conf.set(key, before[key])
            else:
                session.conf.unset(key)


class MaintenanceRule(NamedTuple):
    """Frequency of maintenance: after an interval at the latest, and earlier after this number of new files."""

    interval_ms: int
    new_files: int


class MaintenanceNote(Struct, frozen=True):
    """The number of files after they were gathered, or less since; the last complete maintenance; midnight after thinned days."""

    files: int = 0
    version: int = -1
    at_ms: int = 0
    thinned_ms: int = 0


class TableFiles(NamedTuple):
    files: int
    version: int


class DueMaintenance(Enum):
    NONE = "none"
    GATHER = "many small files become few large ones"
    REMOVE = "files that no reader needs any more are removed"
    ALL = "files become few, large and sorted, and those that no reader needs any more are removed"


def due(
    note: MaintenanceNote, table: TableFiles, rule: MaintenanceRule, now_ms: int
) -> DueMaintenance:
    """Return the due maintenance. A clock that was set back makes it due once too often, or an interval later."""
    # A clock that was set back makes it due once too often, or an interval later.
    if not 0 <= now_ms - note.at_ms < rule.interval_ms:
        return DueMaintenance.ALL if table.version > note.version else DueMaintenance.REMOVE
    if table.files - note.files >= rule.new_files:
        return DueMaintenance.GATHER
    return DueMaintenance.NONE


def noted(note: MaintenanceNote, table: TableFiles) -> MaintenanceNote:
    """Return the note after a look: gathering by another process counts too."""
    return note if table.files >= note.files else replace(note, files=table.files)


_FILE_BYTES = (
    "spark.databricks.delta.optimize.minFileSize",
    "spark.databricks.delta.optimize.maxFileSize",
)


class TableWork(Protocol):
    def now(self) -> TableFiles: ...

    def is_catalog_managed(self) -> bool: ...

    def put_together(self, *, is_sorted: bool) -> None: ...

    def thin(self, cut: ThinningLimits) -> None: ...

    def remove_those_of_the_past(self) -> None: ...


@dataclass(frozen=True, slots=True)
class FolderMaintenance:
    """A table in a folder of this disk, where Spark's commits have to be alone (catalog.py), or of a process without Spark."""

    catalog: TableCatalog
    table: TableDefinition
    cluster_id: str
    file_bytes: int

    def now(self) -> TableFiles:
        table = self._delta()
        return TableFiles(len(table.file_uris()), table.version())

    def is_catalog_managed(self) -> bool:
        # Such a table is not opened by its folder.
        return False

    def put_together(self, *, is_sorted: bool) -> None:
        # The package does not notice that another OPTIMIZE has replaced the same files: rows would be duplicated.
        with files_held(self.catalog, self.table), self._commit():
            self._put_together(is_sorted=is_sorted)

    def _put_together(self, *, is_sorted: bool) -> None:
        table, size = self._delta(), self.file_bytes
        # Other clusters' partitions belong to the maintenance of their own processes.
        ours = [(CLUSTER_ID.name, "=", self.cluster_id)] if self.table.partitioned_by else None
        if is_sorted and self.table.sorted_by:
            table.optimize.z_order(self.table.sorted_by, ours, target_size=size)
        else:
            table.optimize.compact(ours, target_size=size)

    def thin(self, cut: ThinningLimits) -> None:
        with files_held(self.catalog, self.table), self._commit():
            thin_in_folder(self.catalog.location(self.table.name), self.cluster_id, cut)

    def remove_those_of_the_past(self) -> None:
        # In full: the log no longer has files that became too old before its last checkpoint.
        with self._commit():
            self._delta().vacuum(dry_run=False, full=True)

    def _commit(self) -> AbstractContextManager[None]:
        return commit_of_deltalake(self.catalog.local_folder(self.table.name))

    def _delta(self) -> DeltaTable:
        return DeltaTable(self.catalog.location(self.table.name))


@dataclass(frozen=True, slots=True)
class SparkMaintenance:
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
        optimize = self._delta().optimize()
        if self.table.partitioned_by:
            optimize = optimize.where(f"{CLUSTER_ID.name} = {quoted(self.cluster_id)}")
        # The size is a setting of the session, not an option of OPTIMIZE.
        with session_conf(self.spark, sizes):
            if is_sorted and self.table.sorted_by:
                optimize.executeZOrderBy(*self.table.sorted_by)
            else:
                optimize.executeCompaction()

    def thin(self, cut: ThinningLimits) -> None:
        thin_by_spark(self.spark, self.catalog, self.cluster_id, cut)

    def remove_those_of_the_past(self) -> None:
        self._delta().vacuum()

    def _delta(self) -> SparkTable:
        return self.catalog.writable(self.spark, self.table.name)


@dataclass(slots=True)
class S3Maintenance:
    """A table that both may write. Spark replaces files, as only Spark notices concurrent replacements."""

    by_spark: SparkMaintenance
    location: str
    _seen: DeltaTable | None = None
    """Kept, as an update takes two requests, and reading a log a hundred."""

    def now(self) -> TableFiles:
        if self._seen is None:
            self._seen = DeltaTable(self.location)
        else:
            self._seen.update_incremental()
        return TableFiles(len(self._seen.file_uris()), self._seen.version())

    def is_catalog_managed(self) -> bool:
        # Such a table is not opened by its folder.
        return False

    def put_together(self, *, is_sorted: bool) -> None:
        # A log that is read again has only a few pieces.
        self._seen = None
        self.by_spark.put_together(is_sorted=is_sorted)

    def thin(self, cut: ThinningLimits) -> None:
        self.by_spark.thin(cut)

    def remove_those_of_the_past(self) -> None:
        DeltaTable(self.location).vacuum(dry_run=False, full=True)
        remove_old_log(self.location)
