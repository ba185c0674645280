"""Schedule of snapshots: an interval after the last, or after a checkpoint first claimed the cluster's rows.

A failed snapshot is retried after a pause, which doubles with every failure in a row, up to the interval.
"""

from __future__ import annotations

import logging
import time

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.rebuild.snapshots import newest_snapshot, take_snapshot
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import first_claimed_ms

# A failed snapshot has read the log in vain, so a retry may wait for the cause to pass.
_FIRST_PAUSE_MS = 60_000

_log = logging.getLogger(__name__)


class SnapshotTime:
    """Schedule that is checked after each batch of compaction, so that short runs take snapshots as long runs do.

    Snapshots are taken between two batches: on a local disk no other thread may write the table meanwhile.
    """

    def __init__(self, spark: SparkSession, job: JobSettings) -> None:
        self._spark = spark
        self._job = job
        self._due_ms: int | None = None
        self._failures = 0
        """Failures in a row."""

    def look(self) -> None:
        """Take a snapshot if it is due."""
        interval_ms = self._job.snapshot_interval_ms
        if not interval_ms:
            return
        try:
            self._take_if_time(interval_ms)
        except (PySparkException, Py4JError) as failure:
            self._failures += 1
            pause_ms = pause_after(self._failures, interval_ms)
            self._due_ms = _now_ms() + pause_ms
            reason = (str(failure) or type(failure).__name__).splitlines()[0]
            _log.error(
                "the snapshot failed, so a rebuild would read more of the log; it is tried again in %d s: %s",
                pause_ms // 1000,
                reason,
            )

    def _take_if_time(self, interval_ms: int) -> None:
        if self._due_ms is None:
            # From the tables and not from the start, so that short runs take snapshots too.
            self._due_ms = self._begun_ms() + interval_ms
            _log.debug("snapshot: due_in_ms=%d", self._due_ms - _now_ms())
        if _now_ms() >= self._due_ms:
            taken = take_snapshot(self._spark, self._job)
            self._failures = 0
            self._due_ms = _now_ms() + interval_ms
            if taken.taken_ms:
                _log.info("snapshot: a rebuild would begin after batch %d", taken.batch_id)

    def _begun_ms(self) -> int:
        snapshot = newest_snapshot(self._spark, self._job)
        catalog = TableCatalog(self._job.tables_root)
        claimed_ms = first_claimed_ms(self._spark, catalog, self._job.cluster_id)
        return snapshot.taken_ms or claimed_ms or _now_ms()


def pause_after(failures: int, interval_ms: int) -> int:
    """Return the milliseconds until the retry after this number of failures in a row, from 1."""
    return min(_FIRST_PAUSE_MS << (failures - 1), interval_ms)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
