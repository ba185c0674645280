"""One run at a time on a checkpoint: a second one would answer the same events from the same state.

Spark itself notices two drivers on one checkpoint only when both write the same batch, and ends the one that comes
second, maybe after its responses. On this machine's disk a file lock is there before anything starts. The operating
system drops it with the process that holds it, however that ends. Object stores and other remote file systems know no
such lock: for them Spark's own race detection is what there is, so whatever starts the job has to start it once.
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
    """Another run works on the checkpoint; the message names it."""


class UnwritableCheckpointError(RuntimeError):
    """The lock cannot be made where the checkpoint is; the message names that."""


@contextmanager
def locked_checkpoint(location: str) -> Iterator[None]:
    """Hold a query's checkpoint for the time of the block; nothing happens if it is not on this machine's disk.

    Args:
        location: the query's checkpoint folder as Spark gets it; one without a scheme is taken for this machine's.

    Raises:
        CheckpointInUseError: another run holds it.
        UnwritableCheckpointError: its folder is read-only, no folder, or not this user's.
    """
    folder = _local_folder(location)
    if folder is None:
        yield
        return
    # Beside the folder, not in it: that one is Spark's. It is never removed: another run may be about to lock it.
    lock = FileLock(folder.with_name(f"{folder.name}.lock"), blocking=False, fallback_to_soft=False)
    with ExitStack() as held:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(lock)
        except Timeout as error:
            raise CheckpointInUseError(
                f"checkpoint {folder}: another run works on it; stop that one first, or give this one a "
                "checkpoint.location of its own"
            ) from error
        except OSError as error:
            raise UnwritableCheckpointError(
                f"checkpoint {folder}: {folder.parent} (checkpoint.location) cannot be written: {error.strerror}"
            ) from error
        yield


def _local_folder(location: str) -> Path | None:
    return None if is_url_elsewhere(location) else Path(_FILE.sub("", location, count=1)).absolute()
