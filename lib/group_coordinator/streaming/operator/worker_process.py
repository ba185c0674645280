"""Makes a Python worker of Spark cheaper for as long as a task of ours lasts; the next one may be anybody's."""

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
"""Spark tells its workers by this environment variable where their executor has its blocks."""
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
_OPEN_FILES = Path("/proc/self/fd")


def until_dropped(function: Callable[..., Any], undo: Callable[..., object], *given: Any) -> None:
    """Undo something when Spark drops the function that it unpickled for a task: it does so when the task ends."""
    weakref.finalize(function, undo, *given)


def cheaper_while_there(function: Callable[..., Any]) -> None:
    """Keep what a task costs beside its work low, until Spark drops this function of it."""
    until_dropped(function, gc.set_threshold, *gc.get_threshold())
    until_dropped(function, _forget_archives)
    # A worker keeps the frames of thousands of groups until a batch of Arrow is full. To search them for cycles again and
    # again takes a sixth of the operator's time, and hardly any are in a cycle.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    search_only_what_is_new()
    acknowledge_at_once()


@cache
def search_only_what_is_new() -> None:
    """Let the garbage collector pass over what is there when a worker's first task of ours begins: modules above all.

    A worker of Spark collects behind every task, and the next one waits meanwhile: with our modules, NumPy and Arrow it
    searched for 20 to 60 ms, two thirds of a worker's processor time with small batches. This stays, for others' tasks too: it is done once, so it
    keeps nothing but what was there then, and of that what has no part in a cycle is freed as ever. To ask Python whether
    it was done would count all that was there, and take longer than the rest of a small task's work.
    """
    gc.freeze()


def acknowledge_at_once() -> None:
    """Let the JVM send its next piece when it has it.

    It writes small pieces without TCP_NODELAY, so TCP holds one back until the one before is acknowledged, and Linux puts
    that off for 40 ms where nothing is answered: once or twice a task, which is longer than the work of a small one.
    Linux goes back to its own ways by and by; other systems are left alone.
    """
    quick_ack = getattr(socket, "TCP_QUICKACK", None)
    if quick_ack is None or not _OPEN_FILES.is_dir():
        return
    for found in _sockets():
        with found, suppress(OSError):  # others than those of TCP do not take it
            found.setsockopt(socket.IPPROTO_TCP, quick_ack, 1)


def _sockets() -> Iterator[socket.socket]:
    """A copy of each socket of this process, to be closed."""
    for file in _OPEN_FILES.iterdir():
        number = int(file.name)
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                yield socket.socket(fileno=os.dup(number))
        except OSError:  # it was closed meanwhile
            continue


def _forget_archives() -> None:
    """Forget which archives Python has imported from; it opens them again when it needs them.

    A task begins with dropping Python's import caches. Before Python 3.12 that reads the directory of an archive again,
    for each package that came from it: a dozen times for pyspark.zip, and also for a Spark jar, which is on the path too.
    It takes 100 ms or more of processor time, and the next task, as a rule, imports nothing.
    """
    directories = vars(zipimport).get("_zip_directory_cache", {})
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]
            directories.pop(finder.archive, None)


def folder_for_spills() -> str | None:
    """One of the folders where this worker's executor has its blocks; None outside of a worker.

    A container may have no other place for large files: its root is read-only, or its /tmp is small.
    """
    folders = [folder for folder in os.environ.get(_LOCAL_DIRS, "").split(",") if folder]
    return folders[os.getpid() % len(folders)] if folders else None
