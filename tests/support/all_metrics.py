"""Every series that the job may show, made of figures that have something of everything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from threading import Event
from typing import Any

import pyarrow as pa
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from group_coordinator.core.acls import Acls
from group_coordinator.driver.metrics.collector import UnhandledEvents, behind_families
from group_coordinator.driver.metrics.meters import Batches, Counts
from group_coordinator.driver.metrics.table_gauges import TableGauges
from group_coordinator.driver.metrics.view_gauges import ViewGauges
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
_PARTITION = {"group_id": "billing", "topic": "orders", "partition": 0}
TABLES = {
    "groups": GROUPS,
    "lag": LAG,
    "group_owners": OWNERS,
    "partition_status": [{**_PARTITION, "rank": 0, "lag_seconds": 90.0}],
    "at_risk": [{**_PARTITION, "seconds_to_loss": 60.0}],
    "expiring_soon": [{"group_id": "billing", "topic": "orders", "number": 1}],
    "recent": [{"group_id": "billing", "number": 1}],
    "objectives": [{"group_id": "billing", "number": 0.5}],
}


@cache
def all_names() -> frozenset[str]:
    """Of the series, as PromQL knows them."""
    registry = CollectorRegistry()
    Batches(registry, 30)
    ProcessCollector(registry=registry)
    registry.register(Figures(_families))
    families = [*registry.collect(), *text_string_to_metric_families(_texts().decode())]
    return frozenset(sample.name for family in families for sample in family.samples)


def _ask(query: str) -> pa.Table:
    [name] = {word for word in query.split() if word in TABLES}
    return pa.Table.from_pylist(TABLES[name])


def _gauges() -> tuple[TableGauges, ViewGauges]:
    tables, views = TableGauges(_ask, "partition", dict), ViewGauges(_ask, "partition")
    tables.read()
    views.read(Event())
    return tables, views


def _texts() -> bytes:
    return b"".join(gauges.text() for gauges in _gauges())


def _families() -> Iterator[Metric]:
    yield InfoMetricFamily("group_coordinator", "", {"version": "1"})
    batches = Batches(CollectorRegistry(), 30)
    batches.begin(PlannedBatch(time.time_ns() // 1_000_000, {"group-events": {0: 1}}), 1)
    batches.end(BatchCounts(), "group-events")
    yield from batches.families()
    counts = Counts(MeterTotals(FilesInMemory(), lambda *_: {}))
    counts.add(0, BatchMeters())
    yield from counts.families()
    for gauges in _gauges():
        yield from gauges.families()
    yield from behind_families(UnhandledEvents(1, 1))
    agent = AclTask(lambda: Acls(()), lambda _: None)
    agent.begin()
    yield from agent.families()
