"""Run of `group-coordinator mirror` and jobs/mirror_offsets_topic.py, from settings to the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from group_coordinator.background import running_beside
from group_coordinator.clients.cluster.cluster import (
    CHECK_INTERVAL,
    RETENTION,
    Cluster,
    broker_retention,
)
from group_coordinator.clients.cluster.connection import Connection, login_options
from group_coordinator.clients.cluster.group_poll import brokers, ended_groups, hidden_topics
from group_coordinator.clients.cluster.positions import PositionSampler
from group_coordinator.driver.checks.storage import check_other_clusters, check_storage
from group_coordinator.driver.checks.workers import check_certificates, workers_like_the_driver
from group_coordinator.driver.coordinator import prepare_tables
from group_coordinator.driver.error_causes import reported_query_failures, reported_start_errors
from group_coordinator.driver.metrics.collector import Endpoint, metrics_endpoint, tables_read
from group_coordinator.driver.mirror.topic import (
    MirroredTopic,
    MirrorProgress,
    PolledCluster,
    checked_topic,
)
from group_coordinator.driver.outages import ended_if_kafka_is_silent, outlast_outages
from group_coordinator.driver.positions import (
    PositionRounds,
    repeat,
    tables_by_spark,
    tables_in_folder,
)
from group_coordinator.driver.session import MakeSession, session_and_stop
from group_coordinator.driver.tasks.monitors import OwnerMonitor
from group_coordinator.mirror.admin_source import ADMIN, AdminSinks
from group_coordinator.mirror.batch_reasons import with_reasons
from group_coordinator.mirror.known_rows import MirrorBatch
from group_coordinator.mirror.query import (
    MIRROR,
    QUERY_NAME,
    MirrorRun,
    continue_if_lost,
    make_again_if_lost,
)
from group_coordinator.mirror.sinks import MirrorSinks
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.layout import cluster_folder
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.streaming.compaction_query import (
    OF_THE_COORDINATOR,
    CompactionQuery,
    maintenance_of,
)
from group_coordinator.streaming.session import in_pool
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import SAMPLED, create_tables
from group_coordinator.tables.maintenance import Maintenance
from group_coordinator.tables.storage_errors import storage_named


class MirrorReasons:
    """Infers the reasons of tombstones from the tables, and from the topics that the cluster has at that moment."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        coordinator = settings.coordinator
        self._cluster_id = settings.job.cluster_id
        self._catalog = TableCatalog(settings.job.tables_root)
        self._retention = Retention(
            coordinator.retention_ms, coordinator.offsets_retention_check_interval_ms
        )
        self._connection = connection

    def explain(self, rows: DataFrame, batch_id: int, gone: DataFrame | None) -> DataFrame:
        """Return the rows with these reasons, behind the tombstones `gone`. Raises ChannelError."""
        lost = rows.where("value IS NULL AND topic IS NOT NULL").select("topic").distinct()
        asked = {row.topic for row in lost.toLocalIterator()}
        with closing(Cluster(self._connection)) as cluster:
            seen = cluster.topics_seen(asked)
            present = {name: topic_id for name, topic_id in seen.items() if topic_id is not None}
            # A response in which all requested topics are missing is credible only from a broker that knows other topics.
            if asked and not present:
                present = cluster.topic_ids()
        batch = MirrorBatch(
            *(rows.sparkSession, self._catalog, self._cluster_id, batch_id, self._retention),
            topics=present,
            unseen=frozenset(asked - seen.keys()),
            gone=gone,
        )
        return with_reasons(rows, batch)


_log = logging.getLogger(__name__)


def with_retention_of_brokers(
    settings: Settings, given: Collection[str], connection: Connection
) -> Settings:
    """Return the settings with the brokers' retention of offsets, unless it is `given`. Raises ChannelError."""
    coordinator = settings.coordinator
    # A setting of the user takes precedence.
    if {RETENTION, "offsets.retention.ms"} & set(given):
        _log.info("forecasts use the retention of the settings: %d ms", coordinator.retention_ms)
        return settings
    found = broker_retention(connection)
    if found is None:
        _log.warning(
            "the brokers do not show %s (ACL DESCRIBE_CONFIGS on the cluster): forecasts use the setting, %d",
            RETENTION,
            coordinator.offsets_retention_minutes,
        )
        return settings
    _log.info("forecasts use the retention of the brokers: %d minutes", found[0])
    check_interval_ms = (
        coordinator.offsets_retention_check_interval_ms
        if CHECK_INTERVAL in given
        else found.check_interval_ms
    )
    theirs = replace(
        coordinator,
        offsets_retention_minutes=found.retention_minutes,
        offsets_retention_check_interval_ms=check_interval_ms,
    )
    return replace(settings, coordinator=theirs)


@dataclass(frozen=True, slots=True)
class MirrorOptions:
    """Options of a run; `java` and `python` are additional options of the Java and Python clients, under their own names."""

    drain: bool
    with_compaction: bool
    by_polls: bool = False
    """Read by the admin protocol, not from a topic."""
    java: Mapping[str, str] = field(default_factory=dict, repr=False)
    python: Mapping[str, Any] = field(default_factory=dict, repr=False)


def mirror_settings(settings: Settings, topic: str) -> Settings:
    """Return the settings of a mirror of this topic, or of ADMIN; its checkpoints are in a folder named after the cluster."""
    job = settings.job
    root = job.checkpoint_location.rstrip("/")
    folder = f"{root}/mirror-{cluster_folder(job.cluster_id)}"
    if topic == ADMIN:
        job = replace(job, mirror_interval_ms=job.mirror_poll_interval_ms)
    return replace(settings, job=replace(job, events_topic=topic, checkpoint_location=folder))


@reported_start_errors()
def run_mirror(
    settings: Settings, given: Collection[str], make_session: MakeSession, options: MirrorOptions
) -> None:
    """Mirror the topic `events_topic` of mirror_settings, and end between two batches after a signal.

    The brokers' own retention does not replace settings with keys in `given`.

    Raises:
        StartUpError: the message has the cause of the end, and the remedy.
    """
    set_up_logs()
    job = settings.job
    login = login_options(job.security)
    connection = Connection(job.bootstrap_servers, {**login, **options.python})
    # Before Spark starts, which takes much longer.
    topic = None if options.by_polls else checked_topic(connection, job)
    if options.by_polls:
        brokers(connection)
    settings = with_retention_of_brokers(settings, given, connection)
    with (
        nullcontext() if options.drain else metrics_endpoint(job) as endpoint,
        session_and_stop(make_session) as (spark, stop),
        ended_if_kafka_is_silent(connection, stop, partial(spark.sparkContext.setLogLevel, "OFF")),
    ):
        _prepare(spark, job)
        # Before `checked_writer`, which fails for a cluster whose checkpoint is lost.
        if topic is None:
            continue_if_lost(spark, job)
        else:
            make_again_if_lost(spark, job, topic, time.time_ns() // 1_000_000)
        mirror = _Mirror(
            spark=spark,
            settings=settings,
            connection=connection,
            options=options,
            stop=stop,
            endpoint=endpoint,
        )
        with reported_query_failures(job):
            mirror.drain() if options.drain else mirror.run()


def _prepare(spark: SparkSession, job: JobSettings) -> None:
    # The prerequisites of a batch. Missing tables are created, as a mirror is a single command.
    workers_like_the_driver(spark)
    check_certificates(spark, job.security)
    check_storage(spark, job)
    with storage_named("tables.root", job.tables_root):
        are_there = TableCatalog(job.tables_root).exists(spark, COORDINATOR_LOG.name)
    if not are_there:
        create_tables(job.tables_root, lambda: spark)
        _log.info("tables.root = %s: the tables were created", job.tables_root)
    prepare_tables(spark, job)
    check_other_clusters(spark, job)


class _Mirror:
    """A run of the mirror with its background tasks."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        connection: Connection,
        options: MirrorOptions,
        stop: Event,
        endpoint: Endpoint | None,
    ) -> None:
        self._spark = spark
        self._endpoint = endpoint
        self._settings = settings
        self._connection = connection
        self._options = options
        self._stop = stop
        job = settings.job
        writer = checked_writer(spark, job, lambda: None, MIRROR)
        self._progress = MirrorProgress(
            job.events_topic, lambda: time.time_ns() // 1_000_000, time.monotonic
        )
        reasons = MirrorReasons(settings, connection)
        sinks: MirrorSinks | AdminSinks
        self._topic: MirroredTopic | PolledCluster
        if options.by_polls:
            self._topic = PolledCluster(spark, job, connection)
            sinks = AdminSinks(
                writer=writer,
                ended=partial(ended_groups, connection),
                hidden=partial(hidden_topics, connection),
                explain=reasons.explain,
                report=self._progress.batch_done,
            )
        else:
            self._topic = MirroredTopic(spark, job, connection, cluster_options(job, options.java))
            sinks = MirrorSinks(
                writer=writer,
                topic=job.events_topic,
                explain=reasons.explain,
                report=self._progress.batch_done,
                gone=self._topic.gone,
            )
        watches = (self._progress.look, OwnerMonitor(spark, writer).look, self._topic.look)
        self._query = MirrorRun(
            spark=spark,
            job=job,
            take_up=self._topic.take_up,
            may_go_on=self._topic.may_go_on,
            sinks=sinks,
            stop=stop,
            watches=watches,
        )

    def drain(self) -> None:
        """Mirror all readable records, then run each background task once."""
        if not self._options.by_polls:
            self._sample_once()
        # Before the drain: records written during it are not part of it.
        begun_ms = time.time_ns() // 1_000_000
        self._query.drain()
        if not self._stop.is_set():
            self._topic.is_read(begun_ms)
        self._progress.report()
        # The commits of a poll have the poll's time, and a lag needs a later sample.
        if self._options.by_polls and not self._stop.is_set():
            self._sample_once()
        if self._settings.job.maintenance_interval_ms and not self._stop.is_set():
            self._maintenance().look_if_time()
        if self._options.with_compaction and not self._stop.is_set():
            CompactionQuery(self._spark, self._settings).drain()

    def run(self) -> None:
        with ExitStack() as beside:
            if self._endpoint is not None:
                beside.enter_context(self._measuring(self._endpoint))
            rounds = beside.enter_context(self._rounds())
            if rounds is not None:
                every_s = self._settings.job.mirror_positions_interval_ms / 1000
                sample = partial(self._sample, rounds, every_s)
                beside.enter_context(running_beside(sample, self._stop, "positions"))
            if self._options.with_compaction:
                compaction = CompactionQuery(self._spark, self._settings)
                run = compaction.run_again_and_again
                beside.enter_context(running_beside(run, self._stop, "compaction"))
            if self._settings.job.maintenance_interval_ms:
                beside.enter_context(running_beside(self._maintain, self._stop, "maintenance"))
            outlast_outages(self._query.run, self._stop)

    def _measuring(self, endpoint: Endpoint) -> AbstractContextManager[None]:
        # A mirror is ready while it runs, as its failure ends it, and without commits no batch is due.
        endpoint.watch = lambda: None
        return tables_read(endpoint, self._spark, self._settings.job, dict, self._stop)

    def _sample_once(self) -> None:
        with self._rounds() as rounds:
            if rounds is not None:
                rounds.run_or_report()

    @contextmanager
    def _rounds(self) -> Iterator[PositionRounds | None]:
        job = self._settings.job
        if not job.mirror_positions_interval_ms:
            yield None
            return
        if TableCatalog(job.tables_root).is_schema:
            # Spark's maintenance has settings for the whole session, so there is only one.
            tables = tables_by_spark(self._spark, job)._replace(maintenance=None)
        else:
            tables = tables_in_folder(job)
        internal = [] if self._options.by_polls else [job.events_topic]
        sampler = PositionSampler(self._connection, None, internal=internal)
        with closing(sampler):
            yield PositionRounds(job, sampler, tables, self._progress.sampled)

    def _sample(self, rounds: PositionRounds, every_s: float, ended: Event) -> None:
        with in_pool(self._spark, "positions"):
            repeat(rounds.run_or_report, every_s, time.monotonic, ended.wait)

    def _maintain(self, ended: Event) -> None:
        with in_pool(self._spark, "maintenance"):
            self._maintenance().run(ended)

    def _maintenance(self) -> Maintenance:
        job = self._settings.job
        tables = [*OF_THE_COORDINATOR]
        if TableCatalog(job.tables_root).is_schema and job.mirror_positions_interval_ms:
            tables += SAMPLED
        return maintenance_of(self._spark, job, QUERY_NAME, tables)
