"""Runs the coordinator's query: until it is stopped, or until it has read what was there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.runtime import hold_windows
from group_coordinator.runtime.hold_windows import Windows
from group_coordinator.settings import Settings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.catch_up import windows_after_catch_up
from group_coordinator.streaming.checkpoint.layout import coordinator_folder, read_origin
from group_coordinator.streaming.query import has_begun_batch_after, has_read, start_query
from group_coordinator.streaming.sinks import BatchCounts, Sinks
from group_coordinator.tables.catalog import TableCatalog

_POLL_S = 1

IsOver = Callable[[StreamingQuery], bool]


@dataclass(frozen=True, slots=True)
class CoordinatorRun:
    """One run of the coordinator.

    `tick` writes a Tick to every partition of the events topic and gives the offsets behind them: Spark runs no batch
    after a start until there is data. `stop` ends the run early, between two batches. `report` hears of every batch
    that is written, `watch` sees the query about once a second. `topic_needs` is for Sinks.
    """

    spark: SparkSession
    settings: Settings
    tick: Callable[[], Mapping[int, int]]
    stop: Event
    report: Callable[[int, BatchCounts], None]
    watch: Callable[[StreamingQuery], None]
    topic_needs: Callable[[Sequence[str]], None] | None = None

    def run(self) -> None:
        """Run until `stop` is set."""
        windows = windows_after_catch_up(self.spark, self.settings.job, self._read_backlog)
        if not self.stop.is_set():
            self.tick()
            self._run_query(windows, lambda _: False)

    def drain(self) -> None:
        """Process the events that were there at the start and fire the deadlines that are due, then return.

        The batch that reads the last of these events also fires the deadlines of all other groups, except of those
        whose timer fired while timers held: it fires again later.
        """
        windows = windows_after_catch_up(self.spark, self.settings.job, self._read_backlog)
        if not self.stop.is_set():
            self._read_backlog(windows)

    def _read_backlog(self, windows: Windows) -> bool:
        """Read the events that are there now; False if `stop` was set before the end."""
        events_topic, ends = self.settings.job.events_topic, self.tick()
        retries_end_ms = hold_windows.retries_end_ms(windows)
        self._run_query(
            windows,
            lambda query: (
                has_read(query, events_topic, ends) and has_begun_batch_after(query, retries_end_ms)
            ),
        )
        return not self.stop.is_set()

    def _run_query(self, windows: Windows, is_over: IsOver) -> None:
        job = self.settings.job
        origin = read_origin(coordinator_folder(self.spark, job))
        first_batch_id = 0 if origin is None else origin.first_batch_id
        sinks = Sinks(
            job, TableCatalog(job.tables_root), self.report, first_batch_id, self.topic_needs
        )
        gate = BatchGate(sinks.write)
        query = start_query(self.spark, self.settings, windows, origin, gate)
        while not self.stop.is_set() and not is_over(query):
            query.awaitTermination(_POLL_S)  # raises what made the query fail
            self.watch(query)
        gate.stop(query, self.spark.sparkContext)
