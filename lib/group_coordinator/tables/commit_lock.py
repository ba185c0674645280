"""Commits by Spark to a table on a disk are alone: several processes may write one table there.

For a commit Spark looks whether the next version is there, and then gives its file that name. On a disk that replaces a
file that came in between: the commit of another process would be gone, though that has seen it succeed. Commits of the
deltalake package never replace one, and go beside each other.

On S3 both commit by a conditional PUT (checkpoint/object_store.py); catalogs and other stores have ways of their own.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path


def commit_of_spark(folder: Path | str | None) -> AbstractContextManager[None]:
    """Keep all others from committing to a table for the time of the block, and wait until they have ended.

    Args:
        folder: the table's; if it is no path of this machine's disk, nothing happens.
    """
    return _locked(folder, fcntl.LOCK_EX)


def commit_of_deltalake(folder: Path | str | None) -> AbstractContextManager[None]:
    """Keep Spark from committing to a table for the time of the block, and wait until it has ended.

    Args:
        folder: as for `commit_of_spark`.
    """
    return _locked(folder, fcntl.LOCK_SH)


@contextmanager
def _locked(folder: Path | str | None, kind: int) -> Iterator[None]:
    """The operating system drops the lock with the file, also where the process is killed."""
    if not isinstance(folder, Path):
        yield
        return
    # Never removed: another process may be about to lock it.
    with folder.with_name(f".{folder.name}.commits").open("ab") as file:
        fcntl.flock(file, kind)
        yield
