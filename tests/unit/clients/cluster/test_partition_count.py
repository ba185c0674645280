from __future__ import annotations

from collections.abc import Collection

import pytest

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


def test_a_topic_that_is_gone_has_none() -> None:
    cluster = Cluster(8)
    count = cluster.count()
    assert count.now() == 8
    cluster.partitions = None
    cluster.now_s += 1

    assert count.now() == 0


def test_while_the_cluster_is_away_the_last_number_holds() -> None:
    cluster = Cluster(8)
    count = cluster.count()
    assert count.now() == 8
    cluster.is_away = True
    cluster.now_s += 1
    assert count.now() == 8

    cluster.is_away, cluster.partitions = False, 4
    assert count.now() == 4


def test_a_number_that_was_never_seen_is_not_made_up() -> None:
    cluster = Cluster(8)
    cluster.is_away = True
    count = cluster.count()
    with pytest.raises(BrokerUnreachableError):
        count.now()

    cluster.is_away = False
    assert count.now() == 8
