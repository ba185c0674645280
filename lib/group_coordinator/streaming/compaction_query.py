"""Compaction as a streaming query of its own: it may lag or fail without hurting a response."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from group_coordinator.settings import Settings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.retries import keep_trying
from group_coordinator.streaming.upkeep import maintenance_of
from group_coordinator.tables.append import running_query_id
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.compaction import Compaction
from group_coordinator.tables.compaction.offset_rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED

QUERY_NAME = "compaction"
_POLL_S = 1
_PAUSE_S = 30
_FORGOTTEN = re.compile(
    r"DELTA_(?:LOG_FILE_NOT_FOUND\w*|MISSING_FILES_UNEXPECTED_VERSION|FILE_NOT_FOUND_DETAILED)"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CompactionQuery:
    """Folds what is new in coordinator_log into groups, members and offsets."""

    spark: SparkSession
    settings: Settings

    def run(self, stop: Event) -> None:
        """Compact every compaction.interval.ms until `stop` is set, and end between two batches."""
        self._or_from_the_first_row(lambda: self._run(stop))

    def _run(self, stop: Event) -> None:
        gate = BatchGate(self._compact)
        interval = f"{self.settings.job.compaction_interval_ms} milliseconds"
        query = self._writer(gate).trigger(processingTime=interval).start()
        while not stop.is_set():
            query.awaitTermination(_POLL_S)
        gate.stop(query, self.spark.sparkContext)

    def run_again_and_again(self, stop: Event) -> None:
        """As `run`, and after any failure once more: beside the coordinator, which must not end for it."""
        keep_trying(
            lambda: self.run(stop),
            stop,
            pause_s=_PAUSE_S,
            passes=lambda failure: isinstance(failure, Exception),
            say=_say,
        )

    def drain(self) -> None:
        """Compact what is there, then return."""
        self._or_from_the_first_row(self._drain)

    def _drain(self) -> None:
        self._writer(self._compact).trigger(availableNow=True).start().awaitTermination()

    def _or_from_the_first_row(self, run: Callable[[], None]) -> None:
        """Run, and, if the log's table has forgotten where that would go on, run without what was remembered.

        A table forgets its versions after delta.logRetentionDuration, a week. To fold rows again changes nothing.
        """
        try:
            run()
        except StreamingQueryException as failure:
            if not _FORGOTTEN.search(str(failure)):
                raise
            _log.warning("compaction stood still for too long: it begins with the log's first row")
            location = checkpoint_of(self.settings.job, QUERY_NAME)
            CheckpointFolder(self.spark, location).remove_all()
            run()

    def _writer(self, write: Callable[[DataFrame, int], None]) -> DataStreamWriter:
        log = self._catalog.read_stream(self.spark, COORDINATOR_LOG.name)
        location = checkpoint_of(self.settings.job, QUERY_NAME)
        return (
            log.writeStream.queryName(QUERY_NAME)
            .foreachBatch(write)
            .option("checkpointLocation", location)
        )

    def _compact(self, log: DataFrame, batch_id: int) -> None:
        coordinator = self.settings.coordinator
        retention = Retention(
            coordinator.retention_ms, coordinator.offsets_retention_check_interval_ms
        )
        application = running_query_id(log.sparkSession)
        Compaction(self._catalog, retention, application).apply(log, batch_id)
        if self.settings.job.maintenance_interval_ms:
            job = self.settings.job
            maintenance_of(log.sparkSession, job, QUERY_NAME, COMPACTED).look_if_time()

    @property
    def _catalog(self) -> TableCatalog:
        return TableCatalog(self.settings.job.tables_root)


def _say(failure: BaseException, _attempt: int) -> None:
    message, *_ = str(failure).splitlines()
    _log.error("compaction failed, and begins again in %d s: %s", _PAUSE_S, message)
