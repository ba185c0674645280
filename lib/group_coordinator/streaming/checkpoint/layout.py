"""Layout of the coordinator's checkpoint: its place, its numbers of batches, our own files in it, and its file lock.

Spark itself notices two drivers on one checkpoint only when both write the same batch, and ends the second driver,
maybe after its responses. On this machine's disk a file lock prevents that before anything starts. The operating system
drops the lock with the process that holds it, however the process ends. Remote file systems have no such lock. On S3 the
conditional PUT of a batch's file ends the second driver before its responses (object_store.py); elsewhere Spark's own
race detection remains, so the job must be started only once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.tables.roots import is_url_elsewhere

QUERY_NAME = "coordinator"
PARTITIONS = "spark.sql.shuffle.partitions"
"""State partitions: a checkpoint keeps the number of its first batch, whatever the session says later."""
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"

GROUPS = "rebuild/groups"
"""Parquet files with a row per group, see rebuild/rebuilt_groups.py."""

_ORIGIN = "rebuild/origin.json"
_NO_GROUPS = "rebuild/no_groups"
OFFSETS, _COMMITS = "offsets", "commits"
_SPARKS_OWN = ("metadata", OFFSETS, _COMMITS, "sources", "state")
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_HASH_DIGITS = 8


def checkpoint_of(job: JobSettings, query_name: str) -> str:
    """Return the checkpoint folder of a query of the job."""
    return f"{job.checkpoint_location.rstrip('/')}/{query_name}"


def cluster_folder(cluster_id: str) -> str:
    """Return the name of a cluster's folder; for an invalid name a part of it and a hash, so that two clusters never share a folder."""
    if _PLAIN.fullmatch(cluster_id):
        return cluster_id
    plain = "".join(_PLAIN.findall(cluster_id))
    return f"{plain}~{sha256(cluster_id.encode()).hexdigest()[:_HASH_DIGITS]}"


def coordinator_folder(spark: SparkSession, job: JobSettings) -> CheckpointFolder:
    return CheckpointFolder(spark, checkpoint_of(job, QUERY_NAME))


def has_begun(folder: CheckpointFolder) -> bool:
    """Return True if Spark has written anything to the checkpoint."""
    # A kill during the first start may leave any of them alone.
    return any(folder.exists(name) for name in _SPARKS_OWN)


def last_planned_batch(folder: CheckpointFolder) -> int:
    """Return the last batch of the offset log, by Spark's number; -1: none."""
    return _last_number(folder, OFFSETS)


def last_done_batch(folder: CheckpointFolder) -> int:
    """Return the last batch of the commit log, by Spark's number; -1: none."""
    return _last_number(folder, _COMMITS)


def _last_number(folder: CheckpointFolder, name: str) -> int:
    return max((int(file) for file in folder.names_in(name) if file.isdecimal()), default=-1)


@dataclass(frozen=True, slots=True)
class Origin:
    """The start of a rebuilt checkpoint.

    `starting_offsets` are by partition of the events topic. Spark numbers the batches of a checkpoint from 0; in the
    tables they continue from `first_batch_id`, since the order of the log is the order of its batches. `groups` is the
    number of groups in GROUPS; None: there are none. `partitions` is the number of state partitions; None: the
    session's number.
    """

    first_batch_id: int = 0
    starting_offsets: dict[int, int] = field(default_factory=dict)
    groups: int | None = None
    partitions: int | None = None


def read_origin(folder: CheckpointFolder) -> Origin | None:
    """Return the origin that `write_origin` wrote; None: the checkpoint was not rebuilt."""
    return folder.read_as(_ORIGIN, Origin)


def write_origin(folder: CheckpointFolder, origin: Origin) -> None:
    """Complete a rebuild: this file is written last."""
    folder.write(_ORIGIN, json.encode(origin).decode())


def remove_sparks_own(folder: CheckpointFolder) -> None:
    """Remove Spark's files, so that a new query begins in the checkpoint. Our files stay."""
    # Our files stay: the identity still owns the rows.
    for name in _SPARKS_OWN:
        folder.remove(name)


def unplan(folder: CheckpointFolder, batch_id: int) -> None:
    """Remove a batch without outputs from the offset log, so that Spark plans it again with the present time and events."""
    folder.remove(f"{OFFSETS}/{batch_id}")


def folder_of_groups(folder: CheckpointFolder) -> str:
    """Return the folder from which the query of a rebuilt checkpoint loads its remaining groups.

    A query keeps its sources for the life of its checkpoint, but Spark would see files that moved with the checkpoint
    as new. So the source gets an empty folder, once the batch that loaded the groups is no longer the last batch. At a
    start Spark asks the sources for the last batch again. An object store knows only folders that have a file: Spark
    ignores files whose names begin with an underscore.
    """
    # Batch 0 loads the groups, and a start reads the last batch again: its files are needed until batch 1 is committed.
    if last_done_batch(folder) <= 0:
        return folder.address(GROUPS)
    folder.write(f"{_NO_GROUPS}/_none", "")
    return folder.address(_NO_GROUPS)


_FILE = re.compile(r"^file:(//(localhost)?(?=/))?")


class CheckpointInUseError(RuntimeError):
    """Another run uses the checkpoint. The message names it."""


class UnwritableCheckpointError(RuntimeError):
    """The lock file cannot be created at the checkpoint. The message names the place."""


@contextmanager
def locked_checkpoint(location: str) -> Iterator[None]:
    """Hold the lock of a query's checkpoint during the block. A checkpoint on a remote file system is not locked.

    Args:
        location: the query's checkpoint folder as Spark gets it; without a scheme it is on this machine.

    Raises:
        CheckpointInUseError: another run holds it.
        UnwritableCheckpointError: its folder is read-only, is no folder, or belongs to another user.
    """
    folder = _local_folder(location)
    if folder is None:
        yield
        return
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


def _local_folder(location: str) -> Path | None:
    return None if is_url_elsewhere(location) else Path(_FILE.sub("", location, count=1)).absolute()
