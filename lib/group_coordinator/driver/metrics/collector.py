"""Metrics of a run, and the threads that measure independently of batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from threading import Event

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.background import repeat, running_beside
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.agents.acls import AclAgent
from group_coordinator.driver.families import Figures
from group_coordinator.driver.metrics.endpoint import Endpoint
from group_coordinator.driver.metrics.job_lag import Unread
from group_coordinator.driver.metrics.meters import Batches, Counts
from group_coordinator.driver.metrics.table_gauges import TableGauges, table_asker
from group_coordinator.driver.rate_limit import MOST_OF_THE_TIME
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.plans import Plans, offsets_read
from group_coordinator.streaming.meter_totals import MeterTotals, counted_in_tables
from group_coordinator.streaming.pools import in_pool
from group_coordinator.streaming.small_batch import BatchCounts, BatchMeters

_LOOK_S = 5.0
# After a kill, the next start counts the rows of so many seconds in the tables.
_KEEP_S = 10.0
_log = logging.getLogger(__name__)


class Measuring:
    """Receiver of batches in the thread that runs them, without any request.

    Args:
        endpoint: shows the metrics.
        job: the settings.
        folder: the coordinator's checkpoint, which has the totals.
        totals: of the meters.
    """

    def __init__(
        self, endpoint: Endpoint, job: JobSettings, folder: CheckpointFolder, totals: MeterTotals
    ) -> None:
        self._topic = job.events_topic
        self._read_before = offsets_read(folder, self._topic)
        self.batches = Batches(endpoint.registry, job.idle_interval_ms / 1000)
        self.counts = Counts(totals)
        endpoint.watch = self.batches.trouble
        endpoint.registry.register(Figures(self.counts.families))

    def begin(self, batch_id: int, plans: Plans) -> None:
        """Note the begin of a batch, by Spark's number."""
        events = sum(len(offsets) for _, offsets in plans.ranges_of(batch_id))
        self.batches.begin(plans.of(batch_id), events)

    def end(self, counts: BatchCounts) -> None:
        """Note that the batch is written."""
        self.batches.end(counts, self._topic)

    def meters(self, batch_id: int, meters: BatchMeters) -> None:
        """Add a batch's increments, by its number in the tables."""
        self.counts.add(batch_id, meters)

    def read_to(self) -> dict[int, int]:
        """Return by partition the offset behind the handled events."""
        read = self.batches.read_to
        return self._read_before if read is None else read


@contextmanager
def measuring(
    endpoint: Endpoint | None,
    spark: SparkSession,
    connection: Connection,
    *,
    job: JobSettings,
    acls: AclAgent | None,
    stop: Event,
) -> Iterator[Measuring | None]:
    """Measure while the block runs, and keep the totals at its end; None: there is no endpoint."""
    if endpoint is None:
        yield None
        return
    folder = coordinator_folder(spark, job)
    totals = MeterTotals(folder, partial(_counted, spark, job))
    measured = Measuring(endpoint, job, folder, totals)
    if acls is not None:
        endpoint.registry.register(Figures(acls.families))
    # A connection of its own: a slow broker must not delay the other metrics.
    with closing(Unread(connection, job.events_topic, measured.read_to)) as unread:
        endpoint.registry.register(Figures(unread.families))
        with (
            tables_read(endpoint, spark, job, totals.rebalancing, stop),
            _looking("metrics-totals", _KEEP_S, partial(_keep, totals), stop),
            _looking("metrics-unread", _LOOK_S, unread.look, stop),
        ):
            yield measured
        # A complete end saves the next start the counting in the tables.
        _keep_at_last(totals)


@contextmanager
def tables_read(
    endpoint: Endpoint,
    spark: SparkSession,
    job: JobSettings,
    rebalancing: Callable[[], Mapping[str, str]],
    stop: Event,
) -> Iterator[None]:
    """Show gauges of groups and lag from the tables while the block runs."""
    tables = TableGauges(table_asker(spark, job), job.metrics_lag_granularity, rebalancing)
    endpoint.registry.register(Figures(tables.families))
    with _looking("metrics-tables", job.metrics_interval_ms / 1000, tables.read, stop):
        yield


def _looking(
    name: str, interval_s: float, look: Callable[[], None], stop: Event
) -> AbstractContextManager[None]:
    return running_beside(partial(repeat_quietly, look, interval_s), stop, name)


def repeat_quietly(look: Callable[[], None], interval_s: float, ended: Event) -> None:
    """Look at once, and repeatedly until `ended` is set; less often if a look takes long.

    A failed look is logged, unless the last look failed in the same way, and the next look retries.
    """
    reported = ""

    def failed(failure: Exception, count: int) -> None:
        nonlocal reported
        if count == 1 or reported != str(failure):
            _log.warning("the metrics are not complete: %s", failure)
        reported = str(failure)

    repeat(look, ended, interval_s, first_s=0, share=MOST_OF_THE_TIME, failed=failed)


def _keep(totals: MeterTotals) -> None:
    totals.make_up()
    totals.keep()


def _keep_at_last(totals: MeterTotals) -> None:
    try:
        _keep(totals)
    except (OSError, PySparkException, Py4JError) as failure:
        _log.warning(
            "the last changes of the meters were not stored, and the next run counts them again: %s",
            failure,
        )


def _counted(spark: SparkSession, job: JobSettings, after: int, before: int) -> dict[str, int]:
    with in_pool(spark, "metrics"):
        return dict(counted_in_tables(spark, job, after, before))
