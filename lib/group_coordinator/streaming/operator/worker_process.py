"""Makes Spark's Python workers cheaper; they come here because they import the operator."""

from __future__ import annotations

import gc
from zipimport import zipimporter

from pyspark import TaskContext

_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def keep_archive_directories() -> None:
    """From now on, an archive's directory is read once in this process.

    Every task drops Python's import caches, and for each package that came from an archive the archive's directory is
    read again: that of pyspark.zip a dozen times over, and that of a Spark jar, which is on the path as well. It takes
    100 ms or more of processor time a task, for archives that never change while a worker lives.
    """
    setattr(zipimporter, "invalidate_caches", _change_nothing)  # noqa: B010 - mypy forbids the plain form


def _change_nothing(archive: zipimporter) -> None:
    """What was read of the archive stays valid."""


def look_for_cycles_seldom() -> None:
    """In a worker, not in the driver, make Python's cyclic garbage collector run a hundredth as often.

    A worker keeps the frames of thousands of groups until a batch of Arrow is full. Looking through them for cycles
    again and again, which hardly any are in, takes a sixth of the operator's time.
    """
    if TaskContext.get() is not None:
        gc.freeze()
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
