from __future__ import annotations

import time

import pytest
from prometheus_client import CollectorRegistry

from group_coordinator.driver.metrics.meters import Batches
from group_coordinator.streaming.checkpoint.plans import PlannedBatch
from group_coordinator.streaming.small_batch import BatchCounts
from tests.unit.driver.metrics.scraped import scraped

TOPIC = "group-events"


def plan(ends: dict[int, int], ago_s: float = 1.0) -> PlannedBatch:
    return PlannedBatch(time.time_ns() // 1_000_000 - round(ago_s * 1000), {TOPIC: ends})


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_before_the_first_batch_there_is_no_age(registry: CollectorRegistry) -> None:
    batches = Batches(registry, idle_s=30)

    assert batches.trouble() == "no batch has ended in the 0 s since the start"
    assert batches.read_to is None
    found = scraped(registry)
    assert found["group_coordinator_ready"] == 0
    assert found["group_coordinator_events_total"] == 0
    assert "group_coordinator_last_batch_age_seconds" not in found


def test_batches_are_timed_and_counted(registry: CollectorRegistry) -> None:
    batches = Batches(registry, idle_s=30)
    batches.begin(plan({0: 5, 1: 7}, ago_s=1.2), 12)
    batches.end(BatchCounts(11, 8, 1, 0), TOPIC)
    batches.begin(plan({0: 6, 1: 7}, ago_s=0.3), 1)
    batches.end(BatchCounts(1, 0, 0, 0), TOPIC)

    assert batches.trouble() is None
    assert batches.read_to == {0: 6, 1: 7}
    found = scraped(registry)
    assert found["group_coordinator_ready"] == 1
    assert found["group_coordinator_events_total"] == 13
    assert found["group_coordinator_responses_total"] == 12
    assert found["group_coordinator_records_total"] == 8
    assert found["group_coordinator_batch_seconds_count"] == 2
    assert found['group_coordinator_batch_seconds_bucket{le="0.75"}'] == 1
    assert found["group_coordinator_batch_seconds_sum"] == pytest.approx(1.5, abs=0.2)
    assert found["group_coordinator_last_batch_seconds"] == pytest.approx(0.3, abs=0.2)
    assert found["group_coordinator_last_batch_age_seconds"] < 5


def test_who_is_late_is_in_trouble_unless_it_may_rest(
    registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = Batches(registry, idle_s=30)
    batches.begin(None, 0)
    batches.end(BatchCounts(), TOPIC)
    ended_s = time.monotonic()

    monkeypatch.setattr(time, "monotonic", lambda: ended_s + 85)
    assert batches.trouble() is None
    monkeypatch.setattr(time, "monotonic", lambda: ended_s + 95)
    assert batches.trouble() == "the last batch ended 95 s ago"
