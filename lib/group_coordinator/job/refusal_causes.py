"""The errors of other layers that refuse the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from group_coordinator.clients.cluster.coordinator_topics import TopicsError
from group_coordinator.clients.errors import ClientError
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.streaming.checkpoint.folder import DamagedFileError
from group_coordinator.streaming.checkpoint.lock import (
    CheckpointInUseError,
    UnwritableCheckpointError,
)
from group_coordinator.streaming.checkpoint.ownership import CheckpointError
from group_coordinator.streaming.rebuild.rebuild import ForeignLogError
from group_coordinator.streaming.spark_lines import UnknownSparkError
from group_coordinator.tables.append import TableWriteError
from group_coordinator.tables.catalog import TablesRootError
from group_coordinator.tables.creation import MissingTablesError
from group_coordinator.tables.storage_errors import StorageError
from group_coordinator.tables.writer import NotTheWriterError

_CAUSES = (
    ClientError,
    CheckpointError,
    CheckpointInUseError,
    DamagedFileError,
    ForeignLogError,
    MissingTablesError,
    NotTheWriterError,
    StorageError,
    TableWriteError,
    TablesRootError,
    TopicsError,
    UnknownSparkError,
    UnwritableCheckpointError,
)


@contextmanager
def refusals_told() -> Iterator[None]:
    """Turn what a user can mend into JobRefusedError."""
    try:
        yield
    except _CAUSES as error:
        raise JobRefusedError(str(error)) from error
