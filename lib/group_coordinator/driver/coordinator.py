"""Run of `group-coordinator run` and jobs/run_coordinator.py, from settings to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_fixed

from group_coordinator.background import running_beside
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import (
    TopicsError,
    check_nothing_answered,
    check_topics,
)
from group_coordinator.clients.cluster.lasting_client import ResponseWriter
from group_coordinator.clients.cluster.topics import ClusterTopics, PartitionCount
from group_coordinator.driver.checks.preflight import (
    check_batch_limit,
    check_no_new_partitions,
    check_partitions,
)
from group_coordinator.driver.checks.storage import (
    check_checkpoint,
    check_other_clusters,
    check_storage,
)
from group_coordinator.driver.checks.workers import check_certificates, check_workers
from group_coordinator.driver.coordinator_wiring import RunInputs, for_a_drain, for_a_long_run
from group_coordinator.driver.error_causes import reported_query_failures, reported_start_errors
from group_coordinator.driver.metrics.collector import Endpoint, measuring, metrics_endpoint
from group_coordinator.driver.outages import ended_if_kafka_is_silent, outlast_outages
from group_coordinator.driver.session import MakeSession, session, session_and_stop
from group_coordinator.driver.tasks.acls import acls_of_run
from group_coordinator.driver.tasks.topic_metadata import topic_metadata_of_run
from group_coordinator.driver.tasks.transaction_markers import following_of_markers
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.file_lock import locked_checkpoint
from group_coordinator.streaming.checkpoint.layout import (
    QUERY_NAME,
    checkpoint_of,
    coordinator_folder,
)
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.streaming.checkpoint.plans import partitions_read
from group_coordinator.streaming.compaction_query import (
    OF_THE_COORDINATOR,
    CompactionQuery,
    maintenance_of,
)
from group_coordinator.streaming.coordinator_query import CoordinatorHooks, CoordinatorRun
from group_coordinator.streaming.session import in_pool
from group_coordinator.tables.creation import check_tables, upgrade_tables
from group_coordinator.tables.maintenance import Maintenance


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run: until a signal or until all is read, with compaction in the same process or without."""

    drain: bool
    with_compaction: bool
    progress_file: Path | None
    redo_open_batch: bool = False
    """True if this version may end an open batch of another version."""
    accept_new_partitions: bool = False
    """True if the events topic may have got partitions since it was read last."""
    gateway: Callable[[Event, Event], None] | None = None
    """Runs the gateway until one of the events is set: the run is to stop, or it has ended. None during a drain."""


@contextmanager
def checkpoints_held(job: JobSettings, *query_names: str) -> Iterator[None]:
    """Lock the checkpoints of these queries, or fail at once; only for commands that run on this machine."""
    with reported_start_errors(), ExitStack() as locks:
        for name in query_names:
            locks.enter_context(locked_checkpoint(checkpoint_of(job, name)))
        yield


@reported_start_errors()
def run_coordinator(settings: Settings, make_session: MakeSession, options: RunOptions) -> None:
    """Run the coordinator, and end between two batches after a signal."""
    set_up_logs()
    connection = Connection.of(settings.job)
    # Before Spark starts, which takes much longer.
    check_topics(connection, settings.job)
    with (
        _endpoint(settings.job, options) as endpoint,
        session_and_stop(make_session) as (spark, stop),
        ended_if_kafka_is_silent(connection, stop, partial(spark.sparkContext.setLogLevel, "OFF")),
        closing(ClusterTopics(connection)) as cluster,
    ):
        # All checks before `checked_writer`, which claims the cluster's rows.
        check_workers(spark, settings.job.exchange)
        check_certificates(spark, settings.job.security)
        prepare_tables(spark, settings.job)
        check_partitions(spark, settings.job)
        check_other_clusters(spark, settings.job)
        _check_events(spark, settings.job, cluster, options)
        replies = PartitionCount(cluster.read, settings.job.responses_topic)
        writer = checked_writer(
            spark, settings.job, lambda: check_nothing_answered(connection, settings.job)
        )
        with (
            topic_metadata_of_run(spark, settings.job, connection) as topic_metadata,
            following_of_markers(spark, settings.job, connection) as following,
            acls_of_run(spark, settings, connection) as acls,
            closing(ResponseWriter(connection, settings.job, replies.now)) as responses,
        ):
            given = RunInputs(
                spark=spark,
                connection=connection,
                writer=writer,
                settings=settings,
                progress_file=options.progress_file,
                topic_metadata=topic_metadata,
                following=following,
                reply_partitions=replies.now,
                responses=responses,
                acls=acls,
                endpoint=endpoint,
            )
            run = _drain if options.drain else _run
            with reported_query_failures(settings.job):
                run(given, settings, options, stop)


def _endpoint(job: JobSettings, options: RunOptions) -> AbstractContextManager[Endpoint | None]:
    # A drain would end before a second scrape.
    return nullcontext() if options.drain else metrics_endpoint(job)


def _check_events(
    spark: SparkSession, job: JobSettings, cluster: ClusterTopics, options: RunOptions
) -> None:
    present = PartitionCount(cluster.read, job.events_topic).now()
    check_batch_limit(job, present)
    if not options.accept_new_partitions:
        read = partitions_read(coordinator_folder(spark, job), job.events_topic)
        check_no_new_partitions(job.events_topic, read, present)


def _coordinator(
    given: RunInputs, settings: Settings, options: RunOptions, around: CoordinatorHooks, stop: Event
) -> CoordinatorRun:
    return CoordinatorRun(
        spark=given.spark,
        settings=settings,
        writer=given.writer,
        around=around,
        stop=stop,
        allows_other_version=options.redo_open_batch,
    )


def _drain(given: RunInputs, settings: Settings, options: RunOptions, stop: Event) -> None:
    coordinator = _coordinator(given, settings, options, for_a_drain(given), stop)
    # Before the drain, so that its groups get the topic metadata and the markers of the time since the last run.
    if given.topic_metadata is not None:
        outlast_outages(given.topic_metadata.send, stop)
    if given.following is not None:
        outlast_outages(given.following.report, stop)
    outlast_outages(partial(_with_topics, given, coordinator.drain), stop)
    # After the drain: maintenance is not needed for any response.
    if settings.job.maintenance_interval_ms and not stop.is_set():
        _maintenance(given).look_if_time()
    if options.with_compaction and not stop.is_set():
        CompactionQuery(given.spark, settings).drain()


def _run(given: RunInputs, settings: Settings, options: RunOptions, stop: Event) -> None:
    with ExitStack() as beside:
        measured = beside.enter_context(
            measuring(
                given.endpoint,
                given.spark,
                given.connection,
                job=given.job,
                acls=given.acls.task,
                stop=stop,
            )
        )
        around = beside.enter_context(for_a_long_run(given, measured, stop))
        if given.topic_metadata is not None:
            beside.enter_context(running_beside(given.topic_metadata.run, stop, "topics"))
        if given.following is not None:
            beside.enter_context(running_beside(given.following.run, stop, "markers"))
        if given.acls.task is not None:
            looking = partial(given.acls.task.run, interval_s=given.job.acls_interval_ms / 1000)
            beside.enter_context(running_beside(looking, stop, "acls"))
        if options.with_compaction:
            compaction = CompactionQuery(given.spark, settings)
            beside.enter_context(running_beside(compaction.run_again_and_again, stop, "compaction"))
        if settings.job.maintenance_interval_ms:
            beside.enter_context(running_beside(partial(_maintain, given), stop, "maintenance"))
        if options.gateway is not None:
            beside.enter_context(running_beside(partial(options.gateway, stop), stop, "gateway"))
        coordinator = _coordinator(given, settings, options, around, stop)
        outlast_outages(partial(_with_topics, given, coordinator.run), stop)


def _with_topics(given: RunInputs, run: Callable[[], None]) -> None:
    # To Kafka's clients a deleted topic, or one with less room, is an outage, which would never end.
    check_topics_again(given.connection, given.job)
    run()


# A broker that has just started may not know all topics yet.
check_topics_again = retry(
    retry=retry_if_exception_type(TopicsError),
    wait=wait_fixed(2),
    stop=stop_after_attempt(3),
    reraise=True,
)(check_topics)


def _maintain(given: RunInputs, ended: Event) -> None:
    with in_pool(given.spark, "maintenance"):
        _maintenance(given).run(ended)


def _maintenance(given: RunInputs) -> Maintenance:
    # Only the coordinator's own tables, as compaction maintains its tables itself.
    return maintenance_of(given.spark, given.job, QUERY_NAME, OF_THE_COORDINATOR)


@reported_start_errors()
def run_compaction(settings: Settings, make_session: MakeSession, *, drain: bool) -> None:
    set_up_logs()
    with reported_query_failures(settings.job):
        if drain:
            with session(make_session) as spark:
                _compaction(spark, settings).drain()
        else:
            with session_and_stop(make_session) as (spark, stop):
                _compaction(spark, settings).run_again_and_again(stop)


def _compaction(spark: SparkSession, settings: Settings) -> CompactionQuery:
    prepare_tables(spark, settings.job)
    return CompactionQuery(spark, settings)


def prepare_tables(spark: SparkSession, job: JobSettings) -> None:
    """Refuse unusable storage and tables; upgrade tables to this version."""
    check_storage(spark, job)
    check_tables(spark, job.tables_root)
    upgrade_tables(spark, job.tables_root)
    check_checkpoint(spark, job)
