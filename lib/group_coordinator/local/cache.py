"""The folder for what is fetched once and for what must be found again by a later command."""

from __future__ import annotations

from pathlib import Path

from filelock import BaseFileLock, FileLock
from platformdirs.unix import Unix


def cache_folder(name: str) -> Path:
    """A folder of that name in the user's cache, made if it is not there: the same place on every system."""
    folder = Unix("group-coordinator").user_cache_path / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def only_one_process(lock: Path) -> BaseFileLock:
    """A block that waits until no other process is in a block with this lock."""
    return FileLock(lock, fallback_to_soft=False)
