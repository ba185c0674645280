"""Maintenance of the tables that a query writes. Its notes are in the query's checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeAlias

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder, DamagedFileError
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.ownership import WRITTEN
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.snapshots import SNAPSHOTS
from group_coordinator.tables.upkeep_work import UpkeepNote

OF_THE_COORDINATOR = (*WRITTEN, WRITERS)
"""Tables that the coordinator, or a mirror in its place, appends to."""
OF_COMPACTION = (*COMPACTED, SNAPSHOTS)

Notes: TypeAlias = dict[str, UpkeepNote]
"""Notes by table."""

_FILE = "maintenance.json"
_ONCE_MORE = "nothing has to be done: the tables get their maintenance once more, and the file is written again"
_log = logging.getLogger(__name__)


def maintenance_of(
    spark: SparkSession, job: JobSettings, query_name: str, tables: Sequence[TableDefinition]
) -> Maintenance:
    """Return the maintenance of the tables that this process writes, so that no two processes rewrite the same files."""
    return Maintenance(spark, job, tables, notebook_of(spark, job, query_name))


def notebook_of(spark: SparkSession, job: JobSettings, query_name: str) -> Notebook:
    """Return the notebook in a query's checkpoint."""
    folder = CheckpointFolder(spark, checkpoint_of(job, query_name))

    def notes() -> Notes:
        try:
            return folder.read_as(_FILE, Notes, _ONCE_MORE) or {}
        except DamagedFileError as damaged:
            # The notes only save work: without them the tables get their maintenance once more.
            _log.warning("%s", damaged)
            return {}

    return Notebook(notes, lambda kept: folder.write(_FILE, json.encode(kept).decode()))
