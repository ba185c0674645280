"""Catalog-managed Delta tables, whose commits and maintenance belong to the catalog.

The deltalake package cannot open them. Spark opens them by their names and refuses their folders, and refuses OPTIMIZE
and VACUUM unless the catalog allows them. Both were tested with deltalake 1.6.6 and Delta 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

FEATURES = frozenset({"catalogManaged", "catalogOwned-preview"})
"""The table feature in Delta's protocol; the second is its name in the preview."""

_SAID_BY_DELTALAKE = "Max catalog version is required"


class CatalogManagedError(DeltaError):
    """A folder has a catalog-managed table. The message names the table and the way to read it."""


@contextmanager
def opening(location: str | Path) -> Iterator[None]:
    try:
        yield
    except DeltaError as error:
        if _SAID_BY_DELTALAKE not in str(error):
            raise
        raise CatalogManagedError(
            f"{location} is a catalog-managed Delta table, which only Spark opens, and only by its name: set "
            "tables.root = catalog.schema, and query by `group-coordinator-job`"
        ) from error


def open_table(location: str | Path) -> DeltaTable:
    """Return the table in a folder. Raises CatalogManagedError, or DeltaError or OSError if it cannot be read."""
    with opening(location):
        return DeltaTable(location)
