"""Makes the start of a task cheaper in Spark's Python workers; imported there because the operator is.

Every task drops Python's import caches, and for each package that came from an archive the archive's directory is read
again: that of pyspark.zip a dozen times over, and that of a Spark jar, which is on the path as well. It takes 100 ms or
more of processor time a task, for archives that never change while a worker lives.
"""

from __future__ import annotations

from zipimport import zipimporter


def keep_archive_directories() -> None:
    """From now on, an archive's directory is read once in this process."""
    setattr(zipimporter, "invalidate_caches", _change_nothing)  # noqa: B010 - mypy forbids the plain form


def _change_nothing(archive: zipimporter) -> None:
    """What was read of the archive stays valid."""
