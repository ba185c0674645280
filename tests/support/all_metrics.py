"""Every series that the job may show, made of figures that have something of everything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pyarrow as pa
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import InfoMetricFamily
from prometheus_client.metrics_core import Metric

from group_coordinator.core.acls import Acls
from group_coordinator.driver.metrics.collector import UnhandledEvents, behind_families
from group_coordinator.driver.metrics.meters import Batches, Counts
from group_coordinator.driver.metrics.table_gauges import TableGauges
from group_coordinator.driver.session import Figures
from group_coordinator.driver.tasks.acls import AclTask
from group_coordinator.streaming.checkpoint.plans import PlannedBatch
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.small_batch import BatchCounts, BatchMeters
from tests.support.files import FilesInMemory

GROUPS: list[dict[str, Any]] = [
    {
        "group_id": "billing",
        "group_type": "classic",
        "state": "Stable",
        "member_count": 1,
        "offset_count": 1,
    }
]
LAG: list[dict[str, Any]] = [
    {
        "group_id": "billing",
        "topic": "orders",
        "partition": 0,
        "committed_offset": 5,
        "lag": 4,
        "lost": 0,
        "log_start_offset": 0,
        "log_end_offset": 9,
        "sampled_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
]
OWNERS: list[dict[str, Any]] = [
    {"group_id": "billing", "owner": "payments", "tier": "gold", "objective_seconds": 60}
]
TABLES = {"groups": GROUPS, "lag": LAG, "group_owners": OWNERS}


@cache
def all_names() -> frozenset[str]:
    """Of the series, as PromQL knows them."""
    registry = CollectorRegistry()
    Batches(registry, 30)
    ProcessCollector(registry=registry)
    registry.register(Figures(_families))
    return frozenset(sample.name for family in registry.collect() for sample in family.samples)


def _families() -> Iterator[Metric]:
    yield InfoMetricFamily("group_coordinator", "", {"version": "1"})
    batches = Batches(CollectorRegistry(), 30)
    batches.begin(PlannedBatch(time.time_ns() // 1_000_000, {"group-events": {0: 1}}), 1)
    batches.end(BatchCounts(), "group-events")
    yield from batches.families()
    counts = Counts(MeterTotals(FilesInMemory(), lambda *_: {}))
    counts.add(0, BatchMeters())
    yield from counts.families()
    tables = TableGauges(
        lambda select: pa.Table.from_pylist(TABLES[select.rpartition(" ")[2]]),
        "partition",
        dict,
    )
    tables.read()
    yield from tables.families()
    yield from behind_families(UnhandledEvents(1, 1))
    agent = AclTask(lambda: Acls(()), lambda _: None)
    agent.begin()
    yield from agent.families()
