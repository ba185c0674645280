"""Folders of the user's cache and of a single run.

A run that is killed cannot remove its own. Its lock is gone with it, though, so that the next run removes it.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from filelock import BaseFileLock, FileLock, Timeout
from platformdirs.unix import Unix


def cache_folder(name: str) -> Path:
    """A folder of that name in the user's cache, made for the user alone if it is not there: the same place on every system.

    Java runs what is in it.
    """
    folder = Unix("group-coordinator").user_cache_path / name
    for made in (folder.parent.parent, folder.parent, folder):
        # Parents that mkdir makes by itself have the umask's mode.
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def only_one_process(lock: Path) -> BaseFileLock:
    """A block that waits until no other process is in a block with this lock."""
    return FileLock(lock, fallback_to_soft=False)


_PREFIX = "group-coordinator-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder in the temporary folder, for the time of the block; first those of killed runs are removed."""
    _remove_abandoned()
    folder = Path(tempfile.gettempdir(), f"{_PREFIX}{secrets.token_hex(8)}")
    # The lock comes before the folder, so that nobody ever sees a folder that is only about to be locked.
    with _lock_of(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            _remove(folder)


def _remove_abandoned() -> None:
    for file in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*.lock"):
        folder = file.with_suffix("")
        # Timeout: its run goes on. OSError: another user's.
        with suppress(Timeout, OSError), _lock_of(folder):
            _remove(folder)


def _remove(folder: Path) -> None:
    """The lock's file goes last: as long as the folder is there, somebody finds it."""
    rmtree(folder, ignore_errors=True)
    _lock_file(folder).unlink(missing_ok=True)


def _lock_of(folder: Path) -> FileLock:
    return FileLock(_lock_file(folder), blocking=False, fallback_to_soft=False)


def _lock_file(folder: Path) -> Path:
    return folder.with_suffix(".lock")
