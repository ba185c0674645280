"""The coordinator's streaming query: its parts, and its run until it is stopped, or until it has read all present events."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from threading import Event
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.runtime.basis import Basis
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.batch_writer import Sinks
from group_coordinator.streaming.checkpoint.batch_settings import (
    basis_of,
    pin,
    settings_before_ticks,
    settings_of_open_batch,
)
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    PARTITIONS,
    QUERY_NAME,
    Origin,
    coordinator_folder,
    folder_of_groups,
    last_done_batch,
    last_planned_batch,
    read_origin,
    unplan,
)
from group_coordinator.streaming.checkpoint.plans import Plans, TextOfPlan
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.operator.worker_process import folder_for_spills
from group_coordinator.streaming.rebuild.rebuild import check_seeds
from group_coordinator.streaming.session import started_in_pool
from group_coordinator.streaming.small_batch import (
    BatchCounts,
    BatchMeters,
    SmallBatches,
    WritesResponses,
    has_few_events,
)
from group_coordinator.streaming.source import Backlog, read_events, read_groups
from group_coordinator.tables.writer import Writer

_OF_THE_QUERY = {
    # Code generation for its plans takes a batch longer than it saves, in large batches too.
    "spark.sql.codegen.wholeStage": "false",
    # Timers fire without events too. Users with many queries may have switched this off for those.
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}


def start_query(
    spark: SparkSession,
    settings: Settings,
    origin: Origin | None,
    write: Callable[[DataFrame, int], None],
    basis: Basis | None = None,
) -> StreamingQuery:
    """Start to handle events; `write` receives the outputs of every batch (batch_writer.py).

    `basis` is the basis of the settings, for gateways; None: it is about to change.

    Raises DamagedFileError: the groups of a rebuilt checkpoint are incomplete.
    """
    job = settings.job
    context = UpdateContext(
        settings.coordinator,
        job.events_topic,
        job.timer_slack_ms,
        timers_suspended=False,
        asks_for_topics=job.topic_metadata_interval_ms > 0,
        follows_markers=job.transactions_markers_interval_ms > 0,
        reports_rebalancing=bool(job.metrics_listen),
        checks_acls=job.acls_source != "none",
        basis=basis,
        scratch=folder_for_spills,
    )
    calls = coordinate(_input(spark, settings, origin), context, job.exchange)
    writer = (
        calls.writeStream.queryName(QUERY_NAME)
        .foreachBatch(write)
        .option("checkpointLocation", coordinator_folder(spark, job).address_in_full)
        .trigger(processingTime=f"{job.trigger_interval_ms} milliseconds")
    )
    # Only a new checkpoint reads it: Spark keeps the number of the first batch.
    rebuilt = {PARTITIONS: str(origin.partitions)} if origin and origin.partitions else {}
    return started_in_pool(writer, spark, QUERY_NAME, _OF_THE_QUERY | rebuilt)


def _input(spark: SparkSession, settings: Settings, origin: Origin | None) -> DataFrame:
    # A query keeps its sources for the life of its checkpoint, so a rebuilt checkpoint always has the seeds too.
    job, event_max_bytes = settings.job, settings.coordinator.event_max_bytes
    if origin is None:
        return read_events(spark, job, event_max_bytes, {})
    folder = coordinator_folder(spark, job)
    check_seeds(spark, folder, origin)
    # Kafka must be the first source: `has_read` looks there.
    groups = read_groups(spark, folder_of_groups(folder))
    return read_events(spark, job, event_max_bytes, origin.starting_offsets).union(groups)


def plans_in_memory(spark: SparkSession, query: StreamingQuery) -> TextOfPlan:
    """Return the reader of a running query's offset log, which has its last entries in memory."""
    session: Any = spark
    in_java: Any = query
    log = in_java._jsq.streamingQuery().offsetLog()  # noqa: SLF001 - PySpark has no public way
    new_stream = session._jvm.java.io.ByteArrayOutputStream  # noqa: SLF001

    def text(batch_id: int) -> str | None:
        try:
            found = log.get(batch_id)
        except Py4JJavaError:
            # It is not in memory and its file is damaged. The reader of the file reports that.
            return None
        if not found.isDefined():
            return None
        written = new_stream()
        log.serialize(found.get(), written)
        return str(written.toString("UTF-8"))

    return text


def has_ended_batch(query: StreamingQuery, batch_id: int) -> bool:
    """Return True if this batch, by Spark's number, is committed."""
    progress = query.lastProgress
    return progress is not None and progress.batchId >= batch_id


def has_begun_batch_after(query: StreamingQuery, time_ms: int) -> bool:
    """Return True if a batch that began later than this time is committed."""
    progress = query.lastProgress
    time = None if progress is None else datetime.fromisoformat(progress.timestamp)
    return time is not None and time.timestamp() * 1000 > time_ms


def has_read(query: StreamingQuery, events_topic: str, ends: Mapping[int, int]) -> bool:
    """Return True if a committed batch has read the events topic up to these offsets, by partition."""
    progress = query.lastProgress
    if progress is None:
        return False
    # Spark's Python classes give offsets as Python's repr; only the JSON is machine-readable.
    sources = json.loads(progress.json)["sources"]
    read = (sources[0]["endOffset"] or {}).get(events_topic, {}) if sources else {}
    return all(read.get(str(partition), 0) >= end for partition, end in ends.items())


_POLL_S = 1

_log = logging.getLogger(__name__)

IsOver = Callable[[StreamingQuery, Backlog], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorHooks:
    """Connections of a run to the rest of the driver.

    `tick` writes a Tick to every partition of the events topic and returns the offsets behind them: after a start Spark runs no
    batch until there is data. The Ticks announce the basis of the run (runtime/basis.py). `must_wait` decides if a batch is held for
    another query (BatchGate). `before_batch` is called in the thread that begins the batch's tasks, `rest` after `report`
    (small_batch.py). Each of `watches` receives the query about once a second. The last seven fields are for Sinks.
    """

    tick: Callable[[], Mapping[int, int]]
    must_wait: Callable[[], bool]
    plans: Plans
    before_query: Callable[[], None]
    before_batch: Callable[[int], None]
    report: Callable[[int, BatchCounts], None]
    rest: Callable[[int, BatchCounts, Callable[[], bool]], None]
    watches: Sequence[Callable[[StreamingQuery], None]]
    reply_partitions: Callable[[], int]
    topic_subscriptions: Callable[[Sequence[str]], None] | None = None
    awaited_markers: Callable[[Sequence[str]], None] | None = None
    states_read: Callable[[], None] | None = None
    meters: Callable[[int, BatchMeters], None] | None = None
    responses: WritesResponses | None = None
    before_outputs: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorRun:
    """A run of the coordinator, by the checkpoint of the `writer`. `stop` ends it early, between two batches."""

    spark: SparkSession
    settings: Settings
    writer: Writer
    around: CoordinatorHooks
    stop: Event
    allows_other_version: bool = False

    def run(self) -> None:
        self._end_earlier_settings()
        # A query may end without an error: its next batch is held while the clock is wrong.
        while not self.stop.is_set():
            # The Ticks give the next query its first batch, and show the difference of the clocks.
            self.around.tick()
            self._run_query(self.settings, lambda *_: False)

    def drain(self) -> None:
        """Process the events that exist at the start and fire the due timers, then return. Suspended timers fire later."""
        self._end_earlier_settings()
        # The Ticks mark the end of the drain: every event before them exists now.
        events_topic, ends = self.settings.job.events_topic, self.around.tick()
        retries_end_ms: list[int] = []
        """End of the suspension until these events were read; later batches may suspend other timers."""

        def is_over(query: StreamingQuery, backlog: Backlog) -> bool:
            if not has_read(query, events_topic, ends):
                return False
            if not retries_end_ms:
                _log.debug("drain: events=read timers_until_ms=%d", backlog.retries_end_ms)
                retries_end_ms.append(backlog.retries_end_ms)
            return has_begun_batch_after(query, *retries_end_ms)

        while not self.stop.is_set() and not self._run_query(self.settings, is_over):
            self.around.tick()

    def _end_earlier_settings(self) -> None:
        self._end_open_batch()
        settings = settings_before_ticks(self.spark, self.settings)
        if settings is None or self.stop.is_set():
            return
        _log.warning(
            "settings that decide responses have changed: those of the last run count for the events before this start"
        )
        # After a kill the next start finds the same settings, and does this again.
        events_topic, ends = self.settings.job.events_topic, self.around.tick()

        def is_over(query: StreamingQuery, _backlog: Backlog) -> bool:
            return has_read(query, events_topic, ends)

        while not self.stop.is_set() and not self._run_query(settings, is_over):
            self.around.tick()

    def _end_open_batch(self) -> None:
        # An open batch is ended with its own settings, and no other batch may begin with them.
        opened = settings_of_open_batch(
            self.spark, self.settings, allows_other_version=self.allows_other_version
        )
        if opened is None:
            return
        batch_id, settings = opened
        _log.warning("batch %d began with other settings, and is ended with them first", batch_id)
        folder = coordinator_folder(self.spark, self.settings.job)
        while not self.stop.is_set() and last_done_batch(folder) < batch_id:
            self.around.tick()

            def is_over(query: StreamingQuery, _backlog: Backlog) -> bool:
                return has_ended_batch(query, batch_id)

            self._run_query(settings, is_over, last_batch=batch_id)

    def _run_query(
        self, settings: Settings, is_over: IsOver, last_batch: int | None = None
    ) -> bool:
        """Run a query with these settings, up to a batch by Spark's number; return False if it was stopped early."""
        folder = coordinator_folder(self.spark, settings.job)
        origin = read_origin(folder)
        backlog = Backlog(self.spark, self.around.plans, settings.job.max_offsets_per_trigger)
        gate = self._gate(settings, origin, backlog, last_batch)
        # The ACLs before the settings: an open batch with these settings must have its ACLs (task_properties.py).
        self.around.before_query()
        pin(self.spark, settings)
        # Before the start of the query, to distinguish an older open batch from a batch that this query plans.
        last_planned = last_planned_batch(folder)
        # Another query follows with the settings of this run.
        basis = basis_of(settings) if settings is self.settings else None
        query = start_query(self.spark, settings, origin, gate, basis)
        try:
            self.around.plans.follow(plans_in_memory(self.spark, query))
            return self._await_end(query, gate, lambda: is_over(query, backlog))
        finally:
            gate.stop(query, self.spark.sparkContext)
            # This query planned the held batch, and nothing of it was written: the next query plans it again.
            if gate.held_batch > last_planned:
                _unplan(folder, gate.held_batch)

    def _gate(
        self, settings: Settings, origin: Origin | None, backlog: Backlog, last_batch: int | None
    ) -> BatchGate:
        around = self.around
        # After a rebuild Spark counts from 0 again, and the tables continue.
        first_batch_id = 0 if origin is None else origin.first_batch_id
        few_events = partial(has_few_events, around.plans)
        small_batches = (
            None if around.responses is None else SmallBatches(few_events, around.responses)
        )
        sinks = Sinks(
            job=settings.job,
            writer=self.writer,
            report=around.report,
            first_batch_id=first_batch_id,
            topic_subscriptions=around.topic_subscriptions,
            awaited_markers=around.awaited_markers,
            reply_partitions=around.reply_partitions,
            states_read=around.states_read,
            meters=around.meters,
            small_batches=small_batches,
            before_outputs=around.before_outputs,
        )

        def write(batch: DataFrame, batch_id: int) -> None:
            # Local properties must be set in this thread before the write starts the batch's tasks.
            around.before_batch(batch_id)
            backlog.begin(batch_id)
            counts = sinks.write(batch, batch_id)
            around.rest(batch_id, counts, lambda: gate.is_closing or self.stop.is_set())

        def must_wait(batch_id: int) -> bool:
            return (last_batch is not None and batch_id > last_batch) or around.must_wait()

        gate = BatchGate(write, must_wait)
        return gate

    def _await_end(
        self, query: StreamingQuery, gate: BatchGate, is_over: Callable[[], bool]
    ) -> bool:
        while not self.stop.is_set():
            if is_over():
                _log.debug("query=coordinator ends reason=over")
                return True
            if gate.is_shut:
                _log.debug("query=coordinator ends reason=held-batch")
                return False
            # Raises the error of a failed query.
            query.awaitTermination(_POLL_S)
            for watch in self.around.watches:
                watch(query)
        _log.debug("query=coordinator ends reason=stop")
        return False


def _unplan(folder: CheckpointFolder, held_batch: int) -> None:
    # A driver that was paused while another driver replaced it must keep the other driver's plans.
    is_next = last_done_batch(folder) == held_batch - 1
    if is_next and last_planned_batch(folder) == held_batch:
        _log.debug("spark_batch=%d unplanned: the next query plans it", held_batch)
        unplan(folder, held_batch)
