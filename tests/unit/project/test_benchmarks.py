"""The benchmark of large groups takes none of its own events for wrong."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.benchmarks.growth import measure

SOME_EVENTS = {
    "Heartbeat",
    "JoinGroup of a new member",
    "SyncGroup of the leader",
    "LeaveGroup",
    "ConsumerGroupHeartbeat, gets more",
}


@pytest.fixture
def _garbage_of_others_stays() -> Iterator[None]:
    """Each measured call collects garbage, which takes long with all that other tests have imported."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_garbage_of_others_stays")
def test_every_event_among_a_hundred_members_is_measured_in_both_ways() -> None:
    costs = list(measure(largest=100, runs=1))

    cold, warm = ([cost.event for cost in costs if cost.way == way] for way in ("cold", "warm"))
    assert cold == warm
    assert set(cold) >= SOME_EVENTS
