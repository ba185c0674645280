"""Wiring of a coordinator's run to its surroundings: Kafka, the clock, other runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession

from group_coordinator.background import running_beside
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import NewEvents, Ticks, write_ticks
from group_coordinator.clients.cluster.lasting_client import ResponseWriter
from group_coordinator.clients.cluster.topics import Leaders
from group_coordinator.driver.checks.preflight import report_new_partitions
from group_coordinator.driver.metrics.collector import Endpoint, Measuring
from group_coordinator.driver.tasks.acls import AclsOfRun
from group_coordinator.driver.tasks.monitors import (
    Clock,
    KafkaMonitor,
    OwnerMonitor,
    ProgressReport,
)
from group_coordinator.driver.tasks.topic_metadata import TopicMetadataRun
from group_coordinator.driver.tasks.transaction_markers import MarkerTask
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.batch_settings import EmptyBatches, StatesRead, basis_of
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.coordinator_query import CoordinatorHooks
from group_coordinator.streaming.small_batch import BatchCounts, IdleBackOff, no_back_off
from group_coordinator.streaming.task_properties import OutageLog
from group_coordinator.tables.writer import Writer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInputs:
    spark: SparkSession
    connection: Connection
    writer: Writer
    settings: Settings
    progress_file: Path | None
    topic_metadata: TopicMetadataRun | None
    following: MarkerTask | None
    reply_partitions: Callable[[], int]
    responses: ResponseWriter
    acls: AclsOfRun
    endpoint: Endpoint | None

    @property
    def job(self) -> JobSettings:
        return self.settings.job


def for_a_drain(given: RunInputs) -> CoordinatorHooks:
    """Return the surroundings of a run that ends by itself: outages between two such runs follow from the log."""
    folder = coordinator_folder(given.spark, given.job)
    plans = Plans(folder)
    outages = OutageLog(given.spark, folder, plans)
    return _surroundings(given, plans, outages.begin, EmptyBatches(folder), None)


@contextmanager
def for_a_long_run(
    given: RunInputs, measured: Measuring | None, stop: Event
) -> Iterator[CoordinatorHooks]:
    """Yield the surroundings of a long run: after an outage or late responses, members' timers start again."""
    folder = coordinator_folder(given.spark, given.job)
    plans = Plans(folder)
    with (
        closing(Leaders(given.connection, given.job.events_topic)) as leaders,
        closing(NewEvents(given.connection, given.job.events_topic)) as events,
    ):
        empty_batches = EmptyBatches(folder)
        idle_back_off = IdleBackOff(
            plans,
            empty_batches.note,
            events.wait,
            given.job.trigger_interval_ms,
            given.job.idle_interval_ms,
        )
        outages = OutageLog(
            given.spark, folder, plans, idle_back_off.ms_after, given.job.max_offsets_per_trigger
        )
        watch = KafkaMonitor(leaders.ask, outages.add, stop)

        def before_batch(batch_id: int) -> None:
            # The outage must be known before the batch begins, as its timers depend on it.
            watch.await_contact()
            outages.add_wait_for(batch_id)
            outages.begin(batch_id)

        with running_beside(watch.run, stop, "kafka-watch"):
            yield _surroundings(
                given, plans, before_batch, empty_batches, idle_back_off, measured=measured
            )


def _surroundings(
    given: RunInputs,
    plans: Plans,
    before_batch: Callable[[int], None],
    empty_batches: EmptyBatches,
    idle_back_off: IdleBackOff | None,
    measured: Measuring | None = None,
) -> CoordinatorHooks:
    def ticks(basis_id: str | None) -> Ticks:
        written = write_ticks(given.connection, given.job.events_topic, basis_id)
        # Our own Ticks must not end the idle back-off.
        if idle_back_off is not None:
            idle_back_off.note_ticks(written.ends)
        return written

    clock = Clock(lambda: ticks(None).ahead_ms, given.job.timer_slack_ms)

    def announce(acls: str | None) -> Mapping[int, int]:
        written = ticks(basis_of(given.settings, acls).id)
        # The brokers' timestamps of the Ticks show the difference of the clocks, without a further request.
        clock.check(written.ahead_ms)
        return written.ends

    def begin(batch_id: int) -> None:
        before, now = plans.of(batch_id - 1), plans.of(batch_id)
        report_new_partitions(given.job.events_topic, before, now)
        before_batch(batch_id)
        starts = {partition: offsets.start for partition, offsets in plans.ranges_of(batch_id)}
        given.acls.log.begin(batch_id, starts)
        if measured is not None:
            measured.begin(batch_id, plans)

    def report(batch_id: int, counts: BatchCounts) -> None:
        _report(batch_id, counts)
        if measured is not None:
            measured.end(counts)

    idle_ms = (lambda _: 0) if idle_back_off is None else idle_back_off.ms_after
    progress = ProgressReport(given.progress_file, idle_ms)
    owner = OwnerMonitor(given.spark, given.writer)
    return CoordinatorHooks(
        tick=lambda: given.acls.log.start(announce),
        must_wait=clock.is_wrong,
        plans=plans,
        before_query=given.acls.log.before_query,
        before_batch=begin,
        report=report,
        rest=no_back_off if idle_back_off is None else idle_back_off.after,
        watches=(progress.look, owner.look, clock.look),
        reply_partitions=given.reply_partitions,
        topic_subscriptions=None
        if given.topic_metadata is None
        else given.topic_metadata.group_subscriptions.note,
        awaited_markers=None if given.following is None else given.following.awaited.note,
        states_read=StatesRead(coordinator_folder(given.spark, given.job)).note,
        meters=None if measured is None else measured.meters,
        responses=given.responses,
        before_outputs=empty_batches.end,
    )


def _report(batch_id: int, counts: BatchCounts) -> None:
    if counts.denials:
        _log.info(
            "batch %d: %d authorization failures: see the table denials", batch_id, counts.denials
        )
    if counts.dead_letters:
        _log.warning(
            "batch %d: %d dead letters, %d of them by internal errors: see the table dead_letters",
            batch_id,
            counts.dead_letters,
            counts.defects,
        )
