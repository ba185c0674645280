"""Consumers that share a group of the state machine in this process, with a clock moved by hand; records without brokers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.cli.consume import sources
from group_coordinator.cli.consume.sources import (
    Commits,
    GroupSource,
    PartitionCounts,
    PartitionSource,
    Topics,
)
from group_coordinator.clients import offset_messages
from group_coordinator.clients.errors import RequestTimedOutError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from tests.unit.cli.consume.records import record
from tests.unit.clients.billing import IDS
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

GROUP = "billing"
ENDS = {"orders": 4, "refunds": 2}
"""Partitions, each with ten records."""


class Cluster:
    """The topics that exist by now."""

    def __init__(self, *topics: str) -> None:
        self.topics = set(topics)

    def topic_ids(self, topics: Collection[str] | None = None) -> dict[str, str]:
        wanted = self.topics if topics is None else self.topics & set(topics)
        return {name: IDS.get(name, "aW50ZXJuYWxpbnRlcm5hbA") for name in wanted}

    def partition_counts(self, topics: Collection[str]) -> dict[str, int]:
        return {name: ENDS[name] for name in topics if name in self.topics}


class Consumer:
    """Gives the records of its partitions, a few at a time."""

    def __init__(self) -> None:
        self.at: dict[TopicPartition, int] = {}

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        self.at = {one: self.at.get(one, 0) for one in partitions}

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.at[partition] = offset

    def seek_to_beginning(self, partition: TopicPartition) -> None:
        self.at[partition] = 0

    def seek_to_end(self, partition: TopicPartition) -> None:
        self.at[partition] = 10

    def position(self, partition: TopicPartition, timeout_ms: int) -> int:
        assert timeout_ms == 0
        return self.at[partition]

    def poll(self, timeout_ms: int, max_records: int) -> dict[TopicPartition, Sequence[Any]]:
        assert timeout_ms > 0
        for one, first in self.at.items():
            if first < 10:
                self.at[one] = min(10, first + max_records)
                offsets = range(first, self.at[one])
                return {
                    one: [record(at, topic=one.topic, partition=one.partition) for at in offsets]
                }
        return {}


class Reader:
    """A consumer in the group, which prints what it gets."""

    def __init__(
        self,
        coordinator: CoordinatorInProcess,
        name: str,
        cluster: Any,
        *,
        topic: str | None = "orders",
        include: str | None = None,
        commit_interval_s: float | None = 5.0,
        protocol: Any = "classic",
    ) -> None:
        self.coordinator = coordinator
        self.consumer: Any = Consumer()
        self.lost_fetches = 0
        pattern = None if include is None else re.compile(include)
        topics = Topics(cluster, topic, pattern, 300.0, coordinator.clock)
        options = MemberOptions(
            client_id=name,
            group_protocol=protocol,
            rebalance_timeout_ms=20_000,
            session_timeout_ms=10_000,
        )
        self.member = GroupMember(
            coordinator,
            GROUP,
            [],
            PartitionCounts(cluster),
            topic_ids=topics.ids,
            options=options,
            clock=coordinator.clock,
        )
        commits = Commits(self.member.commit_async, commit_interval_s, coordinator.clock)
        self.source = GroupSource(
            self.member,
            topics,
            self.consumer,
            fetch_offsets=self._fetch,
            commits=commits,
            clock=coordinator.clock,
        )
        self.printed: list[tuple[str, int, int]] = []

    def _fetch(
        self, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        if self.lost_fetches:
            self.lost_fetches -= 1
            raise RequestTimedOutError("lost")
        request = offset_messages.fetch_offsets(GROUP, partitions)
        return offset_messages.fetched_offsets(self.coordinator.send(request).result())

    def poll(self, most: int = 500) -> None:
        for each in self.source.poll(most):
            self.printed.append((each.topic, each.partition, each.offset))
            self.source.printed(each)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.time, "sleep", lambda _: None)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster("orders", "refunds", "__consumer_offsets")


@pytest.fixture
def coordinator() -> CoordinatorInProcess:
    found = CoordinatorInProcess()
    found.tell_topics(GROUP, {name: (IDS[name], count) for name, count in ENDS.items()})
    return found


def live(
    coordinator: CoordinatorInProcess, *readers: Reader, rounds: int = 8, most: int = 500
) -> None:
    for _ in range(rounds):
        for reader in readers:
            for _ in range(5):
                reader.poll(most)
        coordinator.sleep(1_500)


def committed(coordinator: CoordinatorInProcess) -> dict[tuple[str, int], int]:
    body = coordinator.send(offset_messages.fetch_offsets(GROUP, None)).result()
    found = offset_messages.fetched_offsets(body)
    return {(one.topic, one.partition): at.offset for one, at in found.items()}


ALL_ORDERS = [("orders", partition, offset) for partition in range(4) for offset in range(10)]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_all_is_printed(coordinator: CoordinatorInProcess, cluster: Cluster, protocol: str) -> None:
    reader = Reader(coordinator, "a", cluster, protocol=protocol)

    live(coordinator, reader)
    assert sorted(reader.printed) == ALL_ORDERS
    assert committed(coordinator) == {("orders", partition): 10 for partition in range(4)}


@pytest.mark.parametrize(("protocol", "rounds"), [("classic", 5), ("consumer", 1)])
def test_what_one_gives_up_the_next_goes_on_with(
    coordinator: CoordinatorInProcess, cluster: Cluster, protocol: str, rounds: int
) -> None:
    """Nothing is printed twice: the last commit comes before the partitions go."""
    first = Reader(coordinator, "a", cluster, protocol=protocol, commit_interval_s=1_000.0)
    live(coordinator, first, rounds=rounds, most=1)
    second = Reader(coordinator, "b", cluster, protocol=protocol, commit_interval_s=1_000.0)
    live(coordinator, first, second, rounds=20, most=1)

    assert len(first.member.assignment) == len(second.member.assignment) == 2
    assert sorted(first.printed + second.printed) == ALL_ORDERS
    assert first.printed
    assert second.printed

    first.source.close()
    second.source.close()
    assert committed(coordinator) == {("orders", partition): 10 for partition in range(4)}


def test_without_commits_all_is_silent(coordinator: CoordinatorInProcess, cluster: Cluster) -> None:
    reader = Reader(coordinator, "a", cluster, commit_interval_s=None)
    live(coordinator, reader)
    reader.source.close()

    assert sorted(reader.printed) == ALL_ORDERS
    assert "OffsetCommit" not in {event["api"] for event in coordinator.events}


def test_what_was_printed_is_committed(coordinator: CoordinatorInProcess, cluster: Cluster) -> None:
    reader = Reader(coordinator, "a", cluster)
    live(coordinator, reader, rounds=3, most=0)
    while not reader.printed:
        reader.poll(3)
    for each in reader.source.poll(5)[:2]:
        reader.source.printed(each)
    reader.source.close()

    assert committed(coordinator) == {
        ("orders", 0): 5,
        ("orders", 1): 0,
        ("orders", 2): 0,
        ("orders", 3): 0,
    }


def test_offsets_are_asked_for_again(coordinator: CoordinatorInProcess, cluster: Cluster) -> None:
    reader = Reader(coordinator, "a", cluster)
    reader.lost_fetches = 2

    live(coordinator, reader)

    assert sorted(reader.printed) == ALL_ORDERS


def test_a_refused_commit_is_told_and_made_again(
    coordinator: CoordinatorInProcess,
    cluster: Cluster,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reader = Reader(coordinator, "a", cluster)
    live(coordinator, reader, rounds=3)
    coordinator.is_silent = True
    live(coordinator, reader, rounds=4)
    coordinator.lose_all()
    assert "Offsets were not committed: lost" in capsys.readouterr().err

    coordinator.is_silent = False
    live(coordinator, reader, rounds=8)
    assert committed(coordinator) == {("orders", partition): 10 for partition in range(4)}


def test_a_pattern_matches_whole_names(coordinator: CoordinatorInProcess, cluster: Cluster) -> None:
    reader = Reader(coordinator, "a", cluster, topic=None, include=".*s")

    live(coordinator, reader)

    assert reader.member.topics == {"orders", "refunds"}
    assert {topic for topic, _, _ in reader.printed} == {"orders", "refunds"}
    assert not Topics(cluster, None, re.compile("order"), 1.0, lambda: 0.0).look()  # type: ignore[arg-type]


def test_later_topics_are_read_too(coordinator: CoordinatorInProcess, cluster: Cluster) -> None:
    cluster.topics = set()
    reader = Reader(coordinator, "a", cluster, topic=None, include=".*s")
    live(coordinator, reader, rounds=2)
    assert coordinator.events == []

    cluster.topics = {"orders"}
    live(coordinator, reader, rounds=6)
    assert sorted(reader.printed) == ALL_ORDERS

    cluster.topics = {"orders", "refunds"}
    coordinator.sleep(2_000)
    live(coordinator, reader, rounds=210)
    assert len(reader.printed) == len(set(reader.printed)) == 60


@pytest.mark.parametrize(
    ("topics", "told"),
    [
        (["orders"], "Check that the job runs: it coordinates the group."),
        ([], "The topic does not exist yet."),
    ],
)
def test_what_is_waited_for_long_is_told_once(
    coordinator: CoordinatorInProcess,
    capsys: pytest.CaptureFixture[str],
    topics: list[str],
    told: str,
) -> None:
    coordinator.is_silent = True

    live(coordinator, Reader(coordinator, "a", Cluster(*topics)), rounds=30)

    assert capsys.readouterr().err.splitlines() == [f"No partitions after 15 s. {told}"]


@pytest.mark.parametrize(("first", "offsets"), [("earliest", 10), ("latest", 0), (7, 3)])
def test_a_partition_without_a_group(first: str | int, offsets: int) -> None:
    consumer: Any = Consumer()

    source = PartitionSource(consumer, TopicPartition("orders", 3), first)

    found = source.poll(500)
    assert len(found) == offsets
    assert all(each.partition == 3 for each in found)
    source.close()
