"""Layout of the coordinator's checkpoint: its place, its numbers of batches, and our own files in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder

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

    `starting_offsets` are by partition of the events topic. Spark numbers the batches of a checkpoint from 0; in the tables they
    continue from `first_batch_id`. `groups` is the number of groups in GROUPS; None: there are none. `partitions` is the number of
    state partitions; None: the session's number.
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
    """Remove Spark's files, so that a new query begins in the checkpoint."""
    # Our files stay: the identity still owns the rows.
    for name in _SPARKS_OWN:
        folder.remove(name)


def unplan(folder: CheckpointFolder, batch_id: int) -> None:
    """Remove a batch without outputs from the offset log, so that Spark plans it again with the present time and events."""
    if batch_id == 0:
        # The plan of batch 0 wrote a schema there, and Spark 4.2 does not plan batch 0 next to a state.
        folder.remove("state")
    folder.remove(f"{OFFSETS}/{batch_id}")


def folder_of_groups(folder: CheckpointFolder) -> str:
    """Return the folder from which the query of a rebuilt checkpoint loads its remaining groups.

    A query keeps its sources for the life of its checkpoint, but Spark would see files that moved with the checkpoint as new. So
    the source gets an empty folder once the groups are loaded. An object store knows only folders that have a file: Spark ignores
    files whose names begin with an underscore.
    """
    # Batch 0 loads the groups, and a start reads the last batch again: its files are needed until batch 1 is committed.
    if last_done_batch(folder) <= 0:
        return folder.address(GROUPS)
    folder.write(f"{_NO_GROUPS}/_none", "")
    return folder.address(_NO_GROUPS)
