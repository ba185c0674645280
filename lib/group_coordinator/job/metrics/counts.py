"""Kafka's meters, a rate and a count each, and ours of what could not be taken."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, UnknownMetricFamily
from prometheus_client.metrics_core import Metric

from group_coordinator.job.metrics.families import gauge
from group_coordinator.observability.rates import Rates
from group_coordinator.runtime.meters import METERS
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.small_batch import (
    DEFECTS_METER,
    DENIALS_METER,
    LETTERS_METER,
    BatchMeters,
)

KAFKAS = "kafka_server_group_coordinator_metrics"
"""How the JMX exporter's usual configurations call kafka.server:type=group-coordinator-metrics."""

OURS = {
    LETTERS_METER: ("group_coordinator_dead_letters", "Rows of the table dead_letters"),
    DEFECTS_METER: ("group_coordinator_defects", "Those of them that a mistake of ours has made"),
    DENIALS_METER: ("group_coordinator_denials", "Rows of the table denials"),
}
"""By the name that BatchMeters has for it."""


class Counts:
    """The totals, once they are whole, and the rates of this run."""

    def __init__(self, totals: MeterTotals) -> None:
        self._totals = totals
        self._rates = Rates()

    def add(self, batch_id: int, meters: BatchMeters) -> None:
        """Add a batch, by its number in the tables, unless it was added before."""
        if self._totals.add(batch_id, meters):
            self._rates.add(meters.counts, time.monotonic())

    def families(self) -> Iterator[Metric]:
        """Counts are missing until those of batches before this run are known."""
        now_s = time.monotonic()
        for meter in METERS:
            name = f"{KAFKAS}_{meter.name.replace('-', '_')}_rate"
            rate = self._rates.per_second(meter.name, now_s)
            yield gauge(name, f"A second: {meter.meaning}", (), [((), rate)])
        counts = self._totals.counts()
        if counts is None:
            return
        for meter in METERS:
            # The JMX exporter knows no type for it, and a counter would be called _count_total.
            yield UnknownMetricFamily(
                f"{KAFKAS}_{meter.name.replace('-', '_')}_count",
                f"All in all: {meter.meaning}",
                counts.get(meter.name, 0),
            )
        for kind, (name, meaning) in OURS.items():
            yield CounterMetricFamily(name, meaning, counts.get(kind, 0))
