"""Compaction as a streaming query of its own: a late or failed batch of it does not delay responses.

A checkpoint that is damaged, or another cluster's, ends the run all the same. Between two batches the query maintains the tables
that it writes; its notes of that are in its checkpoint.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from threading import Event
from typing import TypeAlias

from msgspec import json
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from group_coordinator.background import keep_trying
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder, DamagedFileError
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.ownership import WRITTEN, CheckpointError
from group_coordinator.streaming.rebuild.snapshots import SnapshotTime
from group_coordinator.streaming.session import started_in_pool
from group_coordinator.tables.append import running_query_id
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import WRITERS
from group_coordinator.tables.compaction.compaction import Compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, GROUP_KEY, TableDefinition
from group_coordinator.tables.group_labels import GROUP_LABELS
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote
from group_coordinator.tables.state_tables import GROUPS, SNAPSHOTS

OF_THE_COORDINATOR = (*WRITTEN, WRITERS)
"""Tables that the coordinator, or a mirror in its place, appends to."""
OF_COMPACTION = (*COMPACTED, SNAPSHOTS, GROUP_LABELS)
"""Tables that compaction maintains: it writes all except the last, which a command replaces at times."""

Notes: TypeAlias = dict[str, MaintenanceNote]
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


QUERY_NAME = "compaction"
_CLUSTER = "cluster"
_BEGUN_AGAIN = "write the cluster.id of its rows into it, or move the checkpoint away: compaction then starts again"
_NO_BATCH = -1
_POLL_S = 1
_PAUSE_S = 30
_FORGOTTEN = re.compile(
    r"DELTA_(?:LOG_FILE_NOT_FOUND\w*|MISSING_FILES_UNEXPECTED_VERSION|VERSION_NOT_FOUND|TRUNCATED_TRANSACTION_LOG)"
    # The version still exists, but a file of it was replaced longer than a day ago and is removed.
    r"|FAILED_READ_FILE\.(?:DBR_)?FILE_NOT_EXIST"
)


class CompactionQuery:
    """Applies new rows of a cluster in coordinator_log to groups, members, offsets and group_configs."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self.spark = spark
        self.settings = settings
        self._catalog = TableCatalog(settings.job.tables_root)
        self._folder = CheckpointFolder(spark, checkpoint_of(settings.job, QUERY_NAME))
        self._maintenance: Maintenance | None = None
        self._snapshots = SnapshotTime(spark, settings.job)

    def run(self, stop: Event) -> None:
        """Compact every compaction.interval.ms until `stop` is set, and end between two batches.

        Raises CheckpointError: the checkpoint is that of another cluster.
        Raises DamagedFileError: its cluster id cannot be read.
        """
        self._or_without_what_was_remembered(lambda done: self._run(stop, done))

    def _run(self, stop: Event, done: int) -> None:
        # The query ends between two batches: a MERGE that is interrupted has written its files in vain.
        gate = BatchGate(self._compact)
        interval = f"{self.settings.job.compaction_interval_ms} milliseconds"
        writer = self._writer(gate, done).trigger(processingTime=interval)
        query = started_in_pool(writer, self.spark, QUERY_NAME)
        while not stop.is_set():
            query.awaitTermination(_POLL_S)
        gate.stop(query, self.spark.sparkContext)

    def run_again_and_again(self, stop: Event) -> None:
        """Run, and start again after a failure, as only readers of the tables notice it.

        Raises CheckpointError: the checkpoint is that of another cluster.
        Raises DamagedFileError: its cluster id cannot be read.
        """
        keep_trying(lambda: self.run(stop), stop, pause_s=_PAUSE_S, passes=_may_pass, say=_say)

    def drain(self) -> None:
        """Compact the present rows of the log, then return.

        Raises CheckpointError: the checkpoint is that of another cluster.
        Raises DamagedFileError: its cluster id cannot be read.
        """
        self._or_without_what_was_remembered(self._drain)

    def _drain(self, done: int) -> None:
        writer = self._writer(self._compact, done)
        writer.trigger(availableNow=True).start().awaitTermination()

    def _or_without_what_was_remembered(self, run: Callable[[int], None]) -> None:
        self._check_cluster()
        try:
            run(_NO_BATCH)
        except StreamingQueryException as failure:
            if not _FORGOTTEN.search(str(failure)):
                raise
            done = self._last_compacted_batch()
            _log.warning(
                "compaction has paused for too long: it reads the log again after batch %d", done
            )
            # A table forgets its versions after delta.logRetentionDuration, but keeps its rows: continue after the last
            # compacted batch.
            self._folder.remove_all()
            self._check_cluster()
            run(done)

    def _check_cluster(self) -> None:
        # A checkpoint remembers how far the log was read, which holds for the rows of one cluster only.
        cluster_id, present = self.settings.job.cluster_id, self._folder.read(_CLUSTER)
        if present is None:
            self._folder.write(_CLUSTER, cluster_id)
        # A crash may leave an empty file on a store that writes in two steps.
        elif not present:
            raise self._folder.damaged(_CLUSTER, "it is empty", _BEGUN_AGAIN)
        elif present != cluster_id:
            raise CheckpointError(
                f"checkpoint {self._folder.location} compacts the rows of cluster.id = {present}, not {cluster_id}: "
                "set that cluster.id, or another checkpoint.location"
            )

    def _last_compacted_batch(self) -> int:
        # Groups are written last: a batch that they have is in the other tables too, and so are all batches before.
        groups = self._catalog.read(self.spark, GROUPS.name)
        ours = groups.where(F.col(CLUSTER_ID.name) == self.settings.job.cluster_id)
        (last,) = ours.agg(F.max("batch_id")).collect()[0]
        return _NO_BATCH if last is None else int(last)

    def _writer(self, write: Callable[[DataFrame, int], None], done: int) -> DataStreamWriter:
        # Batches up to `done` are in the tables. The stream never reads skipped rows again.
        is_ours = F.col(CLUSTER_ID.name) == self.settings.job.cluster_id
        log = self._catalog.read_stream(self.spark, COORDINATOR_LOG.name)
        return (
            log.where(is_ours & (F.col(BATCH_ID.name) > done))
            .select(*GROUP_KEY, "record_type", *ENTRY_COLUMNS)
            .writeStream.queryName(QUERY_NAME)
            .foreachBatch(write)
            .option("checkpointLocation", self._folder.address_in_full)
        )

    def _compact(self, log: DataFrame, batch_id: int) -> None:
        coordinator = self.settings.coordinator
        # Read from the settings in each batch, as forecasts follow the present retention.
        retention = Retention(
            coordinator.retention_ms, coordinator.offsets_retention_check_interval_ms
        )
        application = running_query_id(log.sparkSession)
        compaction = Compaction(self._catalog, self.settings.job.cluster_id, retention, application)
        compaction.apply(log, batch_id)
        if self.settings.job.maintenance_interval_ms:
            self._maintain_tables(log.sparkSession)
        self._snapshots.look()

    def _maintain_tables(self, session: SparkSession) -> None:
        # Between two batches, as both rewrite the files of these tables. In the query's session, because the other
        # session has the coordinator's settings of maintenance.
        if self._maintenance is None:
            self._maintenance = maintenance_of(
                session, self.settings.job, QUERY_NAME, OF_COMPACTION
            )
        self._maintenance.look_if_time()


def _may_pass(failure: BaseException) -> bool:
    return isinstance(failure, Exception) and not isinstance(
        failure, CheckpointError | DamagedFileError
    )


def _say(failure: BaseException, _attempt: int) -> None:
    message = (str(failure) or type(failure).__name__).splitlines()[0]
    _log.error("compaction failed, and is tried again in %d s: %s", _PAUSE_S, message)
