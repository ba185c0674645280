"""The folder for what is fetched once and for what must be found again by a later command."""

from __future__ import annotations

from pathlib import Path

from filelock import BaseFileLock, FileLock
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
