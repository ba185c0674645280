"""The benchmark of large groups takes none of its own events for wrong."""

from __future__ import annotations

from tests.benchmarks.growth import measure

SOME_EVENTS = {
    "Heartbeat",
    "JoinGroup of a new member",
    "SyncGroup of the leader",
    "LeaveGroup",
    "ConsumerGroupHeartbeat, gets more",
}


def test_every_event_among_a_hundred_members_is_measured_in_both_ways() -> None:
    costs = list(measure(largest=100))

    cold, warm = ([cost.event for cost in costs if cost.way == way] for way in ("cold", "warm"))
    assert cold == warm
    assert set(cold) >= SOME_EVENTS
