"""Folders of the user's cache and of a single run.

A killed run cannot remove its folder, but its lock is released, so the next run removes the folder.
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
    """Create a folder in the user's cache, for this user alone, as Java runs its contents. The path is the same on every system."""
    folder = Unix("group-coordinator").user_cache_path / name
    for made in (folder.parent.parent, folder.parent, folder):
        # mkdir creates missing parents with the umask's mode.
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def only_one_process(lock: Path) -> BaseFileLock:
    """Lock of a file as a context: it waits until no other process is in a block with this lock."""
    return FileLock(lock, fallback_to_soft=False)


_PREFIX = "group-coordinator-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Temporary folder for the block. Folders of killed runs are removed first."""
    _remove_abandoned()
    folder = Path(tempfile.gettempdir(), f"{_PREFIX}{secrets.token_hex(8)}")
    # The lock is taken before the folder exists, so that no other process sees an unlocked folder.
    with _lock_of(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            _remove(folder)


def _remove_abandoned() -> None:
    for file in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*.lock"):
        folder = file.with_suffix("")
        # Timeout: its run continues. OSError: it belongs to another user.
        with suppress(Timeout, OSError), _lock_of(folder):
            _remove(folder)


def _remove(folder: Path) -> None:
    # The lock file is removed last: as long as the folder exists, the next run finds it by this file.
    rmtree(folder, ignore_errors=True)
    _lock_file(folder).unlink(missing_ok=True)


def _lock_of(folder: Path) -> FileLock:
    return FileLock(_lock_file(folder), blocking=False, fallback_to_soft=False)


def _lock_file(folder: Path) -> Path:
    return folder.with_suffix(".lock")
