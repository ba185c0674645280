"""What `group-coordinator run` and jobs/run_coordinator.py share: from settings to the end of the run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import check_topics
from group_coordinator.clients.cluster.ticks import write_ticks
from group_coordinator.job.outages import outlast_outages
from group_coordinator.job.query_failures import query_failures_told
from group_coordinator.job.refusal_causes import refusals_told
from group_coordinator.job.stop_signals import stop_on_signals
from group_coordinator.job.topic_agent_run import TellingOfTopics, telling_of_topics
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.observability.progress import ProgressReport
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.lock import locked_checkpoint
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.streaming.coordination import CoordinatorRun
from group_coordinator.streaming.rebuild.rebuild import check_checkpoint
from group_coordinator.streaming.sinks import BatchCounts
from group_coordinator.tables.creation import check_tables

_log = logging.getLogger(__name__)

MakeSession = Callable[[], SparkSession]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run: until a signal or until all is read, with compaction in the same process or without."""

    drain: bool
    with_compaction: bool
    progress_file: Path | None


@contextmanager
def checkpoints_held(job: JobSettings, *query_names: str) -> Iterator[None]:
    """Keep other runs off the checkpoints of these queries, or refuse at once.

    For the commands that run on this machine. What goes to spark-submit may have any file system for its default, and
    whoever submits it decides how often it runs.
    """
    with refusals_told(), ExitStack() as locks:
        for name in query_names:
            locks.enter_context(locked_checkpoint(checkpoint_of(job, name)))
        yield


@refusals_told()
def run_coordinator(settings: Settings, make_session: MakeSession, options: RunOptions) -> None:
    """Run the coordinator, and end between two batches when a signal says so."""
    set_up_logs()
    connection = Connection.of(settings.job)
    check_topics(connection, settings.job)
    spark = make_session()
    try:
        check_tables(spark, settings.job.tables_root)
        check_checkpoint(spark, settings.job)
        stop = stop_on_signals()
        with telling_of_topics(spark, settings.job, connection) as telling:
            coordinator = CoordinatorRun(
                spark,
                settings,
                lambda: write_ticks(connection, settings.job.events_topic),
                stop,
                _report,
                ProgressReport(options.progress_file).look,
                None if telling is None else telling.interests.note,
            )
            _coordinate(coordinator, telling, options)
    finally:
        spark.stop()


def _coordinate(
    coordinator: CoordinatorRun, telling: TellingOfTopics | None, options: RunOptions
) -> None:
    stop, compaction = coordinator.stop, CompactionQuery(coordinator.spark, coordinator.settings)
    with query_failures_told(coordinator.settings.job):
        if options.drain:
            if telling is not None:
                outlast_outages(telling.tell, stop)
            outlast_outages(coordinator.drain, stop)
            if options.with_compaction and not stop.is_set():
                compaction.drain()
            return
        with telling.beside() if telling is not None else nullcontext():
            if options.with_compaction:
                _run_both(coordinator, compaction)
            else:
                outlast_outages(coordinator.run, stop)


@refusals_told()
def run_compaction(settings: Settings, make_session: MakeSession, *, drain: bool) -> None:
    """Run compaction alone."""
    set_up_logs()
    spark = make_session()
    try:
        check_tables(spark, settings.job.tables_root)
        compaction = CompactionQuery(spark, settings)
        with query_failures_told(settings.job):
            if drain:
                compaction.drain()
            else:
                compaction.run(stop_on_signals())
    finally:
        spark.stop()


def _run_both(coordinator: CoordinatorRun, compaction: CompactionQuery) -> None:
    beside = Thread(
        target=compaction.run_again_and_again, args=[coordinator.stop], name="compaction"
    )
    beside.start()
    try:
        outlast_outages(coordinator.run, coordinator.stop)
    finally:
        coordinator.stop.set()
        beside.join()


def _report(batch_id: int, counts: BatchCounts) -> None:
    if counts.dead_letters:
        _log.warning(
            "batch %d: %d dead letters, %d of them defects",
            batch_id,
            counts.dead_letters,
            counts.defects,
        )
