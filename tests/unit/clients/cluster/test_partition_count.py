from __future__ import annotations

from collections.abc import Collection

import pytest

from group_coordinator.clients.cluster.event_writer import ahead_ms
from group_coordinator.clients.cluster.topics import PartitionCount
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.model.requests import Topic


class Cluster:
    """A topic that grows, a clock, and outages."""

    def __init__(self, partitions: int | None) -> None:
        self.partitions = partitions
        self.now_s = 100.0
        self.is_away = False
        self.asked = 0

    def count(self) -> PartitionCount:
        """One that has never asked."""
        return PartitionCount(self.read, "responses", lambda: self.now_s)

    def read(self, names: Collection[str]) -> dict[str, Topic]:
        self.asked += 1
        if self.is_away:
            raise BrokerUnreachableError("nobody there")
        [name] = names
        return {} if self.partitions is None else {name: Topic(name, "id", self.partitions)}


def test_the_cluster_is_asked_at_most_once_a_second() -> None:
    cluster = Cluster(8)
    count = cluster.count()
    assert count.now() == 8
    cluster.partitions = 9

    cluster.now_s += 0.9
    assert (count.now(), cluster.asked) == (8, 1)
    cluster.now_s += 0.1
    assert (count.now(), cluster.asked) == (9, 2)
    assert (count.now(), cluster.asked) == (9, 2)


def test_the_last_number_holds_while_the_cluster_is_away_and_not_the_topic() -> None:
    cluster = Cluster(8)
    count = cluster.count()
    assert count.now() == 8
    found = []
    for cluster.is_away, cluster.partitions in ((True, 4), (False, 4), (False, None)):
        cluster.now_s += 1
        found.append(count.now())

    assert found == [8, 4, 0]


def test_a_number_that_was_never_seen_is_not_made_up() -> None:
    cluster = Cluster(8)
    cluster.is_away = True
    count = cluster.count()
    with pytest.raises(BrokerUnreachableError):
        count.now()

    cluster.is_away = False
    assert count.now() == 8


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [(94_000, 6_000), (99_999, 1), (100_000, 0), (100_050, 0), (100_051, -1), (160_050, -60_000)],
)
def test_a_stamp_between_two_readings_of_the_clock_agrees(stamp: int, expected: int) -> None:
    assert ahead_ms([stamp], before_ms=100_000, after_ms=100_050) == expected


def test_of_several_brokers_the_farthest_counts() -> None:
    assert ahead_ms([100_000, 97_000, 101_000], before_ms=100_000, after_ms=100_000) == 3_000
    assert ahead_ms([], before_ms=0, after_ms=0) == 0
