"""The coordinator's checkpoint: where it is, whether it has begun, and what is ours in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder

QUERY_NAME = "coordinator"
PARTITIONS = "spark.sql.shuffle.partitions"
"""Of the state: a checkpoint keeps the number with which its first batch began, whatever the session says later."""
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"

GROUPS = "rebuild/groups"
"""Parquet files with one row a group, see rebuild/rebuilt_groups.py."""

_ORIGIN = "rebuild/origin.json"
_NO_GROUPS = "rebuild/no_groups"
OFFSETS, _COMMITS = "offsets", "commits"
_SPARKS_OWN = ("metadata", OFFSETS, _COMMITS, "sources", "state")


def checkpoint_of(job: JobSettings, query_name: str) -> str:
    """The checkpoint folder of one of the job's queries."""
    return f"{job.checkpoint_location.rstrip('/')}/{query_name}"


def coordinator_folder(spark: SparkSession, job: JobSettings) -> CheckpointFolder:
    """The coordinator's checkpoint."""
    return CheckpointFolder(spark, checkpoint_of(job, QUERY_NAME))


def has_begun(folder: CheckpointFolder) -> bool:
    """Whether Spark has left anything in the checkpoint."""
    return any(folder.exists(name) for name in _SPARKS_OWN)


def last_planned_batch(folder: CheckpointFolder) -> int:
    """The last batch of which Spark has written down what belongs to it, by Spark's number; -1: there is none."""
    return _last_number(folder, OFFSETS)


def last_done_batch(folder: CheckpointFolder) -> int:
    """The last batch that Spark holds for done, by Spark's number; -1: there is none."""
    return _last_number(folder, _COMMITS)


def _last_number(folder: CheckpointFolder, name: str) -> int:
    return max((int(file) for file in folder.names_in(name) if file.isdecimal()), default=-1)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a rebuilt checkpoint began with.

    `starting_offsets` are by partition of the events topic. Spark numbers the batches of a checkpoint from 0; in the
    tables they go on from `first_batch_id`, since the order of the log is that of its batches. In GROUPS are so many
    `groups`; None: there are none. `partitions` are those that the state shall have; None: as many as the session says.
    """

    first_batch_id: int = 0
    starting_offsets: dict[int, int] = field(default_factory=dict)
    groups: int | None = None
    partitions: int | None = None


def read_origin(folder: CheckpointFolder) -> Origin | None:
    """What `write_origin` wrote; None: the checkpoint was not rebuilt."""
    return folder.read_as(_ORIGIN, Origin)


def write_origin(folder: CheckpointFolder, origin: Origin) -> None:
    """Make the rebuild count: it comes last."""
    folder.write(_ORIGIN, json.encode(origin).decode())


def remove_sparks_own(folder: CheckpointFolder) -> None:
    """Let Spark begin a new query in the checkpoint; what is ours stays."""
    for name in _SPARKS_OWN:
        folder.remove(name)


def unplan(folder: CheckpointFolder, batch_id: int) -> None:
    """Let Spark plan a batch anew of which nothing has been done: with its own time, and what has come by then."""
    folder.remove(f"{OFFSETS}/{batch_id}")


def folder_of_groups(folder: CheckpointFolder) -> str:
    """Where the query of a rebuilt checkpoint finds the groups that it has still to load.

    A query keeps its sources for the life of its checkpoint, but files that moved with the checkpoint would be new to
    Spark: the source gets a folder with nothing in it, once the batch that loaded them is no more the last one. At a
    start Spark asks the sources for the last batch again. A store of objects knows only folders that have a file: Spark
    leaves out those whose names begin with an underscore.
    """
    if last_done_batch(folder) <= 0:
        return folder.address(GROUPS)
    folder.write(f"{_NO_GROUPS}/_none", "")
    return folder.address(_NO_GROUPS)
