"""The file lock of a checkpoint on this machine.

Spark itself notices two drivers on one checkpoint only when both write the same batch, maybe after the second driver's responses.
Remote file systems have no such lock. On S3 the conditional PUT of a batch's file ends the second driver before its responses
(object_store.py); elsewhere Spark's own race detection remains, so the job must be started only once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from group_coordinator.tables.roots import is_url_elsewhere

_FILE = re.compile(r"^file:(//(localhost)?(?=/))?")


class CheckpointInUseError(RuntimeError):
    """Another run uses the checkpoint. The message names it."""


class UnwritableCheckpointError(RuntimeError):
    """The lock file cannot be created at the checkpoint. The message names the place."""


@contextmanager
def locked_checkpoint(location: str) -> Iterator[None]:
    """Hold the lock of a query's checkpoint during the block. A checkpoint on a remote file system is not locked.

    Raises:
        CheckpointInUseError: another run holds it.
        UnwritableCheckpointError: its folder is read-only, is no folder, or belongs to another user.
    """
    if is_url_elsewhere(location):
        yield
        return
    folder = Path(_FILE.sub("", location, count=1)).absolute()
    # Next to the folder, as the folder is Spark's. The lock file is never removed: another run may be about to lock it.
    lock = FileLock(folder.with_name(f"{folder.name}.lock"), blocking=False, fallback_to_soft=False)
    with ExitStack() as held:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(lock)
        except Timeout as error:
            raise CheckpointInUseError(
                f"checkpoint {folder}: another run works on it: stop that run, or set another checkpoint.location"
            ) from error
        except OSError as error:
            raise UnwritableCheckpointError(
                f"checkpoint {folder}: {folder.parent} (checkpoint.location) cannot be written: {error.strerror}"
            ) from error
        yield
