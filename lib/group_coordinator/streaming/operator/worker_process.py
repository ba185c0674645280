"""Tuning of Spark's Python worker during our tasks. The next task of a worker may belong to another application."""

from __future__ import annotations

import gc
import os
import socket
import stat
import sys
import weakref
import zipimport
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_LOCAL_DIRS = "SPARK_LOCAL_DIRS"
"""Environment variable by which Spark gives its workers the block folders of their executor."""
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
_OPEN_FILES = Path("/proc/self/fd")


def until_dropped(function: Callable[..., Any], undo: Callable[..., object], *given: Any) -> None:
    """Undo a change when Spark drops the function that it unpickled for a task, which is at the end of the task."""
    weakref.finalize(function, undo, *given)


def cheaper_while_there(function: Callable[..., Any]) -> None:
    """Keep the overhead of a task low, until Spark drops its function."""
    until_dropped(function, gc.set_threshold, *gc.get_threshold())
    until_dropped(function, _forget_archives)
    # A worker keeps the frames of thousands of groups until an Arrow batch is full. Repeated searches for cycles in
    # them take a sixth of the operator's time, and hardly any frame is in a cycle.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    search_only_what_is_new()
    acknowledge_at_once()


@cache
def search_only_what_is_new() -> None:
    """Exclude all present objects, mainly modules, from garbage collection when the first of our tasks begins in a worker.

    A worker of Spark collects after every task while the next task waits: with our modules, NumPy and Arrow a collection took 20 to
    60 ms, two thirds of a worker's processor time with small batches. The freeze stays for other applications' tasks too. It
    happens once: a test whether it was done would count all these objects, and take longer than the rest of a small task's work.
    """
    gc.freeze()


def acknowledge_at_once() -> None:
    """Acknowledge the JVM's data at once, so that it sends its next piece without delay.

    The JVM writes small pieces without TCP_NODELAY, so TCP holds a piece until the last is acknowledged, which Linux delays by 40 ms:
    longer than the work of a small task. Linux returns to its default later; other systems are left alone.
    """
    quick_ack = getattr(socket, "TCP_QUICKACK", None)
    if quick_ack is None or not _OPEN_FILES.is_dir():
        return
    for found in _sockets():
        # Sockets other than TCP's reject the option.
        with found, suppress(OSError):
            found.setsockopt(socket.IPPROTO_TCP, quick_ack, 1)


def _sockets() -> Iterator[socket.socket]:
    """Yield a copy of each socket of this process, to be closed."""
    for file in _OPEN_FILES.iterdir():
        number = int(file.name)
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                yield socket.socket(fileno=os.dup(number))
        except OSError:  # it was closed meanwhile
            continue


def _forget_archives() -> None:
    """Forget which archives Python has imported from; it opens them again when it needs them.

    A task begins by dropping Python's import caches. Before Python 3.12 that reads the directory of an archive again for each package
    that came from it, a dozen times for pyspark.zip: 100 ms or more of processor time.
    """
    directories = vars(zipimport).get("_zip_directory_cache", {})
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]
            directories.pop(finder.archive, None)


def folder_for_spills() -> str | None:
    """Return a block folder of this worker's executor; None outside of a worker.

    A container may have no other place for large files: its root is read-only, or its /tmp is small.
    """
    folders = [folder for folder in os.environ.get(_LOCAL_DIRS, "").split(",") if folder]
    # Spread over the folders by process id, as Spark spreads its blocks.
    return folders[os.getpid() % len(folders)] if folders else None
