"""Lock of commits to a table on a disk: a commit by Spark must be alone, as several processes may write a table there.

For a commit Spark looks if the next version exists, and then gives its file that name. On a disk that replaces a file
created in between: the commit of another process would be lost, though that process has seen it succeed. Commits of the
deltalake package never replace a file, and may run at the same time.

On S3 both commit by a conditional PUT (checkpoint/object_store.py); catalogs and other stores have ways of their own.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path


def commit_of_spark(folder: Path | str | None) -> AbstractContextManager[None]:
    """Lock out all other commits to a table during the block, after waiting for their end.

    Args:
        folder: the table's; nothing happens if it is no path of this machine's disk.
    """
    return _locked(folder, fcntl.LOCK_EX)


def commit_of_deltalake(folder: Path | str | None) -> AbstractContextManager[None]:
    """Lock out Spark's commits to a table during the block, after waiting for their end.

    Args:
        folder: as for `commit_of_spark`.
    """
    return _locked(folder, fcntl.LOCK_SH)


@contextmanager
def _locked(folder: Path | str | None, kind: int) -> Iterator[None]:
    if not isinstance(folder, Path):
        yield
        return
    # Never removed: another process may be about to lock it. The operating system drops the lock with the process, even
    # after a kill.
    with folder.with_name(f".{folder.name}.commits").open("ab") as file:
        fcntl.flock(file, kind)
        yield
