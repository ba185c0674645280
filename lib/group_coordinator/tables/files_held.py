"""Lock of a table's files between processes of this machine, for rewriting them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from filelock import FileLock

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import TableDefinition


def files_held(catalog: TableCatalog, table: TableDefinition) -> AbstractContextManager[object]:
    """Hold the files of a table during the block; an object store has no such lock.

    Raises:
        Timeout: another process holds them. It is raised on entering.
    """
    folder = catalog.local_folder(table.name)
    if folder is None:
        return nullcontext()
    return FileLock(folder.with_name(f".{table.name}.lock"), blocking=False)
