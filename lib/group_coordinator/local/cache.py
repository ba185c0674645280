"""The folder for what is fetched once and for what must be found again by a later command."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder(name: str) -> Path:
    """A folder of that name in the user's cache, made if it is not there."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home, "group-coordinator", name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def only_one_process(lock: Path) -> Iterator[None]:
    """Wait until no other process is in a block with this lock."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
