"""Who replaces a table's files keeps other processes of this machine from it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from filelock import FileLock

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import TableDefinition


def files_held(catalog: TableCatalog, table: TableDefinition) -> AbstractContextManager[object]:
    """Hold the files of a table for the time of the block; an object store has no such lock.

    Raises:
        Timeout: another process holds them. It is raised on entering.
    """
    folder = catalog.local_folder(table.name)
    if folder is None:
        return nullcontext()
    return FileLock(folder.with_name(f".{table.name}.lock"), blocking=False)
