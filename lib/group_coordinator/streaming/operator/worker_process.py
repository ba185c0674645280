"""Makes Spark's Python workers cheaper; they run this because they import the operator."""

from __future__ import annotations

import gc
import os
from zipimport import zipimporter

from pyspark import TaskContext

_LOCAL_DIRS = "SPARK_LOCAL_DIRS"
"""Spark tells its workers by this environment variable where their executor has its blocks."""
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def keep_archive_directories() -> None:
    """Read the directory of an archive only once in this process.

    Every task drops Python's import caches; then, for each package that came from an archive, the directory of the
    archive is read again: a dozen times for pyspark.zip, and also for a Spark jar, which is on the path too. This takes
    100 ms or more of processor time a task, and archives never change while a worker lives.
    """
    setattr(zipimporter, "invalidate_caches", _change_nothing)  # noqa: B010 - mypy forbids the plain form


def _change_nothing(archive: zipimporter) -> None:
    """Keep what was read of the archive."""


def look_for_cycles_seldom() -> None:
    """In a worker, not in the driver, run Python's cyclic garbage collector a hundredth as often.

    A worker keeps the frames of thousands of groups until a batch of Arrow is full. To search them for cycles again and
    again takes a sixth of the operator's time, and hardly any are in a cycle.
    """
    if TaskContext.get() is not None:
        gc.freeze()
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def folder_for_spills() -> str | None:
    """One of the folders where this worker's executor has its blocks; None outside of a worker.

    A container may have no other place for large files: its root is read-only, or its /tmp is small.
    """
    folders = [folder for folder in os.environ.get(_LOCAL_DIRS, "").split(",") if folder]
    return folders[os.getpid() % len(folders)] if folders else None
