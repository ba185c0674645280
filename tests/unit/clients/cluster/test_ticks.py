from __future__ import annotations

import pytest

from group_coordinator.clients.cluster.event_writer import ahead_ms


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [(94_000, 6_000), (99_999, 1), (100_000, 0), (100_050, 0), (100_051, -1), (160_050, -60_000)],
)
def test_a_stamp_between_two_readings_of_the_clock_agrees_with_it(
    stamp: int, expected: int
) -> None:
    assert ahead_ms([stamp], before_ms=100_000, after_ms=100_050) == expected


def test_of_several_brokers_the_farthest_counts() -> None:
    assert ahead_ms([100_000, 97_000, 101_000], before_ms=100_000, after_ms=100_000) == 3_000
    assert ahead_ms([], before_ms=0, after_ms=0) == 0
