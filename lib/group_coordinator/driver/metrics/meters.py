"""Metrics of the batches: duration, Kafka's meters with rates over two windows of 30 s, and counters of invalid events."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from threading import Lock

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, UnknownMetricFamily
from prometheus_client.metrics_core import Metric

from group_coordinator.driver.session import Figures, figure
from group_coordinator.runtime.meters import METERS
from group_coordinator.streaming.checkpoint.plans import PlannedBatch
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.small_batch import (
    DEFECTS_METER,
    DENIALS_METER,
    LETTERS_METER,
    BatchCounts,
    BatchMeters,
)

WINDOW_S = 30.0
"""Kafka's metrics.sample.window.ms; metrics.num.samples is 2."""


class Rates:
    """Counts per second, by name; times are of a clock that never goes back. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._window = 0
        self._now: Counter[str] = Counter()
        self._before: Counter[str] = Counter()

    def add(self, counts: Mapping[str, int], now_s: float) -> None:
        with self._lock:
            self._move_to(now_s)
            self._now.update(counts)

    def per_second(self, name: str, now_s: float) -> float:
        """Return the rate of the last 30 to 60 s."""
        with self._lock:
            self._move_to(now_s)
            # As Kafka's Rate: the last complete window and the present part.
            elapsed_s = now_s - (self._window - 1) * WINDOW_S
            return (self._now[name] + self._before[name]) / elapsed_s

    def _move_to(self, now_s: float) -> None:
        window = int(now_s // WINDOW_S)
        # Of two threads the later may have read the clock earlier.
        if window <= self._window:
            return
        # After a pause of a whole window the counts before it are too old.
        self._before = self._now if window == self._window + 1 else Counter()
        self._now, self._window = Counter(), window


_BOUNDS_S = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60, 300)
# Batches of minutes are useless to members: their clients have given up by then (request.timeout.ms).
_PATIENCE_S = 60.0


class Batches:
    """Metrics of the batches, received in the thread that runs them; `idle_s` is the longest pause of an idle job."""

    def __init__(self, registry: CollectorRegistry, idle_s: float) -> None:
        self._idle_s = idle_s
        self._lock = Lock()
        self._begun: tuple[PlannedBatch | None, int] = None, 0
        self._last_s = time.monotonic()
        self._has_any = False
        self._duration_s = 0.0
        self._ends: dict[int, int] | None = None
        self._totals = {"events": 0, "responses": 0, "records": 0}
        self._durations = Histogram(
            "group_coordinator_batch_seconds",
            "From the planning of a batch until its responses and rows are written",
            buckets=_BOUNDS_S,
            registry=registry,
        )
        registry.register(Figures(self.families))

    def begin(self, plan: PlannedBatch | None, events: int) -> None:
        self._begun = plan, events

    def end(self, counts: BatchCounts, topic: str) -> None:
        plan, events = self._begun
        with self._lock:
            self._last_s, self._has_any = time.monotonic(), True
            for name, number in zip(self._totals, (events, *counts[:2]), strict=True):
                self._totals[name] += number
            if plan is None:
                return
            self._ends = plan.ends.get(topic, {})
            self._duration_s = max(0.0, time.time_ns() / 1e9 - plan.at_ms / 1e3)
        self._durations.observe(self._duration_s)

    @property
    def read_to(self) -> dict[int, int] | None:
        """By partition of the events topic the offset behind the handled events; None: no batch has ended yet."""
        return self._ends

    def trouble(self) -> str | None:
        """Return why no response can be expected soon; None: batches end regularly."""
        age_s = self._age_s()
        if not self._has_any:
            return f"no batch has ended in the {age_s:.0f} s since the start"
        if age_s > _PATIENCE_S + self._idle_s:
            return f"the last batch ended {age_s:.0f} s ago"
        return None

    def families(self) -> Iterator[Metric]:
        with self._lock:
            totals, duration_s = dict(self._totals), self._duration_s
        for name, number in totals.items():
            yield CounterMetricFamily(f"group_coordinator_{name}", _MEANINGS[name], number)
        ready = float(self.trouble() is None)
        yield figure("group_coordinator_ready", "1: the status of /readyz is 200", ready)
        if self._has_any:
            yield figure(
                "group_coordinator_last_batch_seconds", "The duration of the last batch", duration_s
            )
            yield figure(
                "group_coordinator_last_batch_age_seconds",
                "The time since the last batch ended; without events the next batch may wait for up to "
                "idle.interval.ms",
                self._age_s(),
            )

    def _age_s(self) -> float:
        return time.monotonic() - self._last_s


_MEANINGS = {
    "events": "Events that this run has read",
    "responses": "Responses that this run has sent, repeats included",
    "records": "Rows that this run has added to coordinator_log",
}


KAFKAS = "kafka_server_group_coordinator_metrics"
"""Prefix of kafka.server:type=group-coordinator-metrics in the JMX exporter's usual configurations."""

OURS = {
    LETTERS_METER: ("group_coordinator_dead_letters", "Rows of the table dead_letters"),
    DEFECTS_METER: ("group_coordinator_defects", "Dead letters by internal errors"),
    DENIALS_METER: ("group_coordinator_denials", "Rows of the table denials"),
}
"""Our counters by their name in BatchMeters."""


class Counts:
    """The totals, once they are complete, and the rates of this run."""

    def __init__(self, totals: MeterTotals) -> None:
        self._totals = totals
        self._rates = Rates()

    def add(self, batch_id: int, meters: BatchMeters) -> None:
        """Add a batch, by its number in the tables, unless it was added before."""
        if self._totals.add(batch_id, meters):
            self._rates.add(meters.counts, time.monotonic())

    def families(self) -> Iterator[Metric]:
        """Yield the metrics; totals are missing until the batches before this run are counted."""
        now_s = time.monotonic()
        for meter in METERS:
            name = f"{KAFKAS}_{meter.name.replace('-', '_')}_rate"
            rate = self._rates.per_second(meter.name, now_s)
            yield figure(name, f"Per second: {meter.meaning}", rate)
        counts = self._totals.counts()
        if counts is None:
            return
        for meter in METERS:
            # The JMX exporter gives it no type, and a counter would be named _count_total.
            yield UnknownMetricFamily(
                f"{KAFKAS}_{meter.name.replace('-', '_')}_count",
                f"In total: {meter.meaning}",
                counts.get(meter.name, 0),
            )
        for kind, (name, meaning) in OURS.items():
            yield CounterMetricFamily(name, meaning, counts.get(kind, 0))
