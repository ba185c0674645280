"""Samples of the topics' ends and of the offsets of share groups, once or repeatedly, and their tables."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from threading import Event
from typing import NamedTuple

from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.positions import PositionSampler, Sample, Skipped
from group_coordinator.clients.errors import ClientError
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.errors import StartUpError, check_is_there
from group_coordinator.driver.outages import ended_if_kafka_is_silent
from group_coordinator.driver.session import MakeSession, session_and_stop
from group_coordinator.driver.signals import stop_on_signals_to_python
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import cluster_folder
from group_coordinator.streaming.compaction_query import notebook_of
from group_coordinator.tables.append import TableWriteError
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import SAMPLED
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.samples import (
    SHARE_GROUP_OFFSETS,
    TOPIC_POSITIONS,
    position_rows,
    share_offset_rows,
)
from group_coordinator.tables.samples_store import SamplesBySpark, SamplesFolder
from group_coordinator.tables.storage_errors import storage_named
from group_coordinator.tables.topic_ids import TopicIds, topic_ids_by_spark, topic_ids_in_folder

_OF_OFFSETS = (TOPIC_POSITIONS, SHARE_GROUP_OFFSETS)


class PositionTables(NamedTuple):
    """The tables of a cluster, and their maintenance; None: another process does it."""

    positions: SamplesFolder | SamplesBySpark
    share_offsets: SamplesFolder | SamplesBySpark
    topic_ids: TopicIds
    maintenance: Maintenance | None


def tables_in_folder(job: JobSettings) -> PositionTables:
    """Return the tables for access without Spark, with the notes of their maintenance. Raises StartUpError if one is missing."""
    catalog = TableCatalog(job.tables_root)
    positions, shares = (SamplesFolder(catalog, job.cluster_id, table) for table in _OF_OFFSETS)
    for each in (positions, shares):
        _check(job, each.table, each.exists)
    topic_ids = topic_ids_in_folder(catalog, job.cluster_id)
    maintenance = _maintenance(None, job, positions.notebook())
    return PositionTables(positions, shares, topic_ids, maintenance)


def tables_by_spark(spark: SparkSession, job: JobSettings) -> PositionTables:
    """Return the tables for access by Spark, with notes in a folder per cluster. Raises StartUpError if one is missing."""
    catalog = TableCatalog(job.tables_root)
    for table in _OF_OFFSETS:
        _check(job, table, partial(catalog.exists, spark, table.name))
    notebook = notebook_of(spark, job, f"positions-{cluster_folder(job.cluster_id)}")
    positions, shares = (
        SamplesBySpark(spark, catalog, job.cluster_id, table, notebook) for table in _OF_OFFSETS
    )
    return PositionTables(
        positions,
        shares,
        topic_ids_by_spark(spark, catalog, job.cluster_id),
        _maintenance(spark, job, notebook),
    )


def _check(job: JobSettings, table: TableDefinition, exists: Callable[[], bool]) -> None:
    with storage_named("tables.root", job.tables_root):
        is_there = exists()
    check_is_there(job.tables_root, table.name, is_there=is_there)


def _maintenance(
    spark: SparkSession | None, job: JobSettings, notebook: Notebook
) -> Maintenance | None:
    if not job.maintenance_interval_ms:
        return None
    return Maintenance(spark, job, SAMPLED, notebook)


_NAMED = 10
"""Missing partitions that a message names for each reason."""
_log = logging.getLogger(__name__)


class NothingSampledError(StartUpError):
    """No partition could be sampled; the message has the reason."""


@reported_start_errors()
def sample_positions(
    job: JobSettings,
    connection: Connection,
    topics: Collection[str] | None,
    every_s: float | None,
    make_session: MakeSession,
) -> None:
    """Append samples of topics (None: all but internal ones) to the tables: one, or one per interval until a signal.

    Raises:
        StartUpError: a table does not exist, or the only sample could not be taken.
    """
    set_up_logs()
    with (
        _tables_and_signals(job, make_session) as (tables, signals),
        closing(PositionSampler(connection, topics)) as sampler,
    ):
        rounds = PositionRounds(job, sampler, tables)
        if every_s is None:
            rounds.run_alone()
            return
        with signals as stop, ended_if_kafka_is_silent(connection, stop):
            repeat(rounds.run_or_report, every_s, time.monotonic, stop.wait)


@contextmanager
def _tables_and_signals(
    job: JobSettings, make_session: MakeSession
) -> Iterator[tuple[PositionTables, AbstractContextManager[Event]]]:
    if not TableCatalog(job.tables_root).is_schema:
        yield tables_in_folder(job), stop_on_signals_to_python()
        return
    with session_and_stop(make_session) as (spark, stop):
        yield tables_by_spark(spark, job), nullcontext(stop)


class PositionRounds:
    """Rounds that each take a sample, append it, note new topic ids, pass it to `hear`, and maintain the tables."""

    def __init__(
        self,
        job: JobSettings,
        sampler: PositionSampler,
        tables: PositionTables,
        hear: Callable[[Sample], None] = lambda _sample: None,
    ) -> None:
        self._hear = hear
        self._sampler = sampler
        self._tables = tables
        self._cluster_id = job.cluster_id
        self._retention_ms = job.positions_retention_ms
        self._full_ms = job.positions_full_ms
        self._reported = ""

    def run_alone(self) -> None:
        """Run a round.

        Raises:
            NothingSampledError: the sample is empty.
            ClientError: the cluster does not respond, or rejects the login.
            TableWriteError: a write to a table failed.
        """
        sample = self._sampler.sample()
        if not sample.positions:
            raise NothingSampledError(summary(sample))
        self._append(sample)
        self._report(sample)
        self._hear(sample)
        self._look_after_the_tables(sample.sampled_at_ms)

    def run_or_report(self) -> None:
        """Run a round and log its failure: the next round tries again."""
        try:
            self.run_alone()
        except (ClientError, NothingSampledError, TableWriteError) as failure:
            _log.warning("this sample failed, and the next follows in time: %s", failure)
            self._reported = ""

    def _append(self, sample: Sample) -> None:
        at_ms = sample.sampled_at_ms
        self._tables.positions.append(position_rows(self._cluster_id, sample.positions, at_ms))
        # Most clusters have no share groups, and an append without rows would be a commit.
        if sample.share_offsets:
            shares = share_offset_rows(self._cluster_id, sample.share_offsets, at_ms)
            self._tables.share_offsets.append(shares)
        self._tables.topic_ids.note(sample.topic_ids, at_ms)

    def _report(self, sample: Sample) -> None:
        # Not the same summary again: samples come every few seconds.
        text = summary(sample)
        if text != self._reported:
            _log.log(logging.WARNING if sample.skipped else logging.INFO, text)
        self._reported = text

    def _look_after_the_tables(self, now_ms: int) -> None:
        try:
            for samples in (self._tables.positions, self._tables.share_offsets):
                if self._retention_ms:
                    samples.remove_old(self._retention_ms, now_ms)
                if self._full_ms:
                    samples.thin(self._full_ms, now_ms)
        except TableWriteError as failure:
            _log.warning(
                "old samples could not be removed, and the next round tries again: %s", failure
            )
        if self._tables.maintenance is not None:
            self._tables.maintenance.look_if_time()


def repeat(
    work: Callable[[], None],
    every_s: float,
    clock: Callable[[], float],
    wait: Callable[[float], bool],
) -> None:
    """Work now, and at each multiple of an interval from now on; a multiple during the work is skipped.

    `clock` has seconds that never go back; `wait` waits for so many seconds, and returns True at the end.
    """
    # Multiples of the interval from the start, so that the work's duration does not shift the samples.
    begun_s = clock()
    due_s = begun_s
    while not wait(max(due_s - clock(), 0)):
        work()
        due_s = begun_s + (math.floor((clock() - begun_s) / every_s) + 1) * every_s


def summary(sample: Sample) -> str:
    """Return the number of sampled partitions, and the skipped partitions by reason."""
    count = len(sample.positions)
    sampled = f"partitions sampled: {count}" if count else "nothing could be sampled"
    by_reason: dict[str, list[Skipped]] = {}
    for skipped in sample.skipped:
        by_reason.setdefault(skipped.why, []).append(skipped)
    return "; ".join([sampled, *(f"{why}: {_names(those)}" for why, those in by_reason.items())])


def _names(skipped: list[Skipped]) -> str:
    named = ", ".join(each.what for each in skipped[:_NAMED])
    more = len(skipped) - _NAMED
    return f"{named} and {more} more" if more > 0 else named
