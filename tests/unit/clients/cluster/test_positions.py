"""What is sampled of a cluster in trouble; on a real broker: tests/broker/clients/test_positions.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka import IsolationLevel, OffsetSpec, TopicPartition
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    NotLeaderForPartitionError,
    RequestTimedOutError,
)
from kafka.protocol.broker_version_data import BrokerVersionData
from kafka.structs import OffsetAndTimestamp

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.positions import PositionSampler, Skipped, topic_names
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.tables.position import Position, ShareOffset

LEADERLESS = -1
NOON_MS = 1_700_000_000_000


@dataclass
class Brokers:
    """Partitions with 10 records behind 100 deleted ones; it fails as kafka-python's admin client does."""

    leaders: dict[TopicPartition, int]
    internal: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    errors: dict[TopicPartition, KafkaError] = field(default_factory=dict)
    dead: dict[int, KafkaError] = field(default_factory=dict)
    ends: list[int] = field(default_factory=lambda: [100, 110, 110])
    """The answers to three questions."""
    asked: list[int] = field(default_factory=list)
    """How many partitions each request was about."""
    is_away: bool = False
    is_closed: bool = False
    now_s: float = 0.0
    answer_takes_s: float = 0.0
    shares: dict[int, Mapping[str, Any] | KafkaError] | None = None
    """By broker: its share groups as DescribeShareGroupOffsets answers, or why there is no answer; None: they lack that API."""
    asked_for_shares: list[tuple[int, str]] = field(default_factory=list)

    @property
    def _manager(self) -> Brokers:
        return self

    @property
    def broker_version_data(self) -> BrokerVersionData:
        return BrokerVersionData((4, 0), {} if self.shares is None else {90: (0, 1)})

    def describe_cluster(self) -> dict[str, Any]:
        assert self.shares is not None
        return {"brokers": [{"broker_id": broker} for broker in self.shares]}

    def send(self) -> None:
        """Never called: `run` has the request itself."""

    def run(self, _send: object, request: Any, broker: int) -> Mapping[str, Any]:
        assert self.shares is not None
        self.asked_for_shares.append((broker, request.name))
        groups = self.shares[broker]
        if isinstance(groups, KafkaError):
            raise groups
        if request.name == "ListGroups":
            listed = [{"groupId": name, "groupType": "share"} for name in groups]
            return {"errorCode": 0, "groups": listed}
        return {"groups": [{"groupId": name, **groups[name]} for name in groups]}

    def describe_topics(self, names: list[str] | None) -> list[dict[str, Any]]:
        if self.is_away:
            raise KafkaConnectionError("nobody there")
        seen = sorted({partition.topic for partition in self.leaders} | self.unknown)
        return [self._described(name) for name in seen if names is None or name in names]

    def _described(self, name: str) -> dict[str, Any]:
        partitions = [
            {"partition_index": partition.partition, "leader_id": leader}
            for partition, leader in self.leaders.items()
            if partition.topic == name
        ]
        return {
            "name": name,
            "error_code": 3 if name in self.unknown else 0,
            "is_internal": name in self.internal,
            "partitions": partitions,
        }

    def list_partition_offsets(
        self,
        specs: Mapping[TopicPartition, OffsetSpec],
        isolation_level: IsolationLevel,
        timeout_ms: int,
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        assert timeout_ms == 1_000
        self.asked.append(len(specs))
        self.now_s += self.answer_takes_s
        for failure in [
            *(self.dead[leader] for leader in map(self.leaders.get, specs) if leader in self.dead),
            *(self.errors[partition] for partition in specs if partition in self.errors),
        ]:
            raise failure
        questions = {
            (OffsetSpec.EARLIEST, IsolationLevel.READ_UNCOMMITTED): 0,
            (OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED): 1,
            (OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED): 2,
        }
        return {
            partition: OffsetAndTimestamp(self.ends[questions[spec, isolation_level]], -1, None)
            for partition, spec in specs.items()
        }

    def close(self) -> None:
        self.is_closed = True


@dataclass(frozen=True)
class To(Connection):
    brokers: Any = None

    def local_address(self) -> str:
        return "127.0.0.1"

    def open(self, client: Any, **options: Any) -> Any:  # noqa: ARG002 - a real one makes that client
        return self.brokers


def orders(partition: int) -> TopicPartition:
    return TopicPartition("orders", partition)


def sampler(brokers: Brokers, *topics: str) -> PositionSampler:
    clock_ms = iter((NOON_MS, NOON_MS + 80)).__next__
    connection = To("kafka:9092", brokers=brokers)
    return PositionSampler(connection, topics or None, clock_ms, lambda: brokers.now_s)


def positions(*partitions: int) -> list[Position]:
    return [Position("orders", partition, 100, 110, 110) for partition in partitions]


def test_each_leader_is_asked_three_times_however_many_partitions_it_has() -> None:
    brokers = Brokers({orders(number): number % 2 for number in range(1000)})

    sample = sampler(brokers).sample()

    assert sample.positions == positions(*range(1000))
    assert sample.skipped == []
    assert sample.sampled_at_ms == NOON_MS + 40
    assert brokers.asked == [500] * 6


def test_internal_topics_and_those_just_deleted_are_left_out_unless_they_are_asked_for() -> None:
    offsets = TopicPartition("__consumer_offsets", 0)
    brokers = Brokers(
        {orders(0): 1, offsets: 1},
        internal=frozenset({"__consumer_offsets"}),
        unknown=frozenset({"gone"}),
    )

    assert sampler(brokers).sample()[:2] == (positions(0), [])
    sample = sampler(brokers, "__consumer_offsets", "gone").sample()
    assert [position.topic for position in sample.positions] == ["__consumer_offsets"]
    assert sample.skipped == [Skipped("gone", "UNKNOWN_TOPIC_OR_PARTITION")]


def test_an_internal_topic_may_be_sampled_among_all() -> None:
    internal = {TopicPartition("__consumer_offsets", 0), TopicPartition("__transaction_state", 0)}
    leaders = dict.fromkeys([*internal, orders(0)], 1)
    brokers = Brokers(leaders, frozenset(partition.topic for partition in internal))
    asked = PositionSampler(
        To("kafka:9092", brokers=brokers), None, lambda: NOON_MS, internal=["__consumer_offsets"]
    )

    assert [position.topic for position in asked.sample().positions] == [
        "__consumer_offsets",
        "orders",
    ]


def test_a_partition_without_a_leader_is_skipped() -> None:
    brokers = Brokers({orders(0): 1, orders(1): LEADERLESS})

    assert sampler(brokers).sample()[:2] == (positions(0), [Skipped("orders-1", "no leader")])


def test_a_partition_with_an_error_does_not_take_the_others_with_it() -> None:
    brokers = Brokers({orders(number): 1 for number in range(8)})
    brokers.errors[orders(5)] = NotLeaderForPartitionError("orders-5")

    sample = sampler(brokers).sample()

    assert sample.positions == positions(0, 1, 2, 3, 4, 6, 7)
    assert sample.skipped == [Skipped("orders-5", "NOT_LEADER_FOR_PARTITION")]
    assert brokers.asked == [8, 4, 4, 2, 1, 1, 2, 7, 7]


def test_what_has_an_error_is_looked_for_no_longer_than_five_seconds() -> None:
    brokers = Brokers({orders(number): 1 for number in range(8)}, answer_takes_s=2.5)
    brokers.errors[orders(5)] = NotLeaderForPartitionError("orders-5")

    sample = sampler(brokers).sample()

    assert sample.positions == positions(0, 1, 2, 3)
    assert sample.skipped == [
        Skipped(f"orders-{number}", "NOT_LEADER_FOR_PARTITION") for number in (4, 5, 6, 7)
    ]
    assert brokers.asked == [8, 4, 4, 4, 4]


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (
            KafkaConnectionError("socket disconnected"),
            "KafkaConnectionError: socket disconnected",
        ),
        (RequestTimedOutError("after 5000 ms"), "REQUEST_TIMED_OUT"),
    ],
    ids=["away", "silent"],
)
def test_a_leader_that_gives_no_answer_is_asked_once(failure: KafkaError, why: str) -> None:
    brokers = Brokers({orders(0): 1, orders(1): 2, orders(2): 2}, dead={2: failure})

    sample = sampler(brokers).sample()

    assert sample.positions == positions(0)
    assert sample.skipped == [Skipped("orders-1", why), Skipped("orders-2", why)]
    assert brokers.asked == [1, 2, 1, 1]


def test_a_topic_that_is_made_anew_while_it_is_asked_about_is_skipped() -> None:
    brokers = Brokers({orders(0): 1}, ends=[100, 0, 0])

    skipped = [Skipped("orders-0", "its log became shorter meanwhile")]
    assert sampler(brokers).sample()[:2] == ([], skipped)


def test_after_a_failure_it_connects_again() -> None:
    brokers = Brokers({orders(0): 1}, is_away=True)
    asking = sampler(brokers)
    with pytest.raises(BrokerUnreachableError, match=r"Kafka at kafka:9092: .*nobody there"):
        asking.sample()
    assert brokers.is_closed
    brokers.is_away = False

    assert asking.sample().positions == positions(0)


def test_an_answer_is_awaited_for_five_seconds_unless_the_user_says_how_long() -> None:
    seen = []

    @dataclass(frozen=True)
    class Seen(To):
        def open(self, client: Any, **options: Any) -> Any:
            seen.append(self.client_options()["request_timeout_ms"])
            return super().open(client, **options)

    brokers = Brokers({orders(0): 1})
    PositionSampler(Seen("kafka:9092", brokers=brokers), None).sample()
    patient = Seen("kafka:9092", {"request_timeout_ms": 60_000}, brokers=brokers)
    PositionSampler(patient, None).sample()

    assert seen == [5_000, 60_000]


def test_names_by_id_of_topics_that_have_one() -> None:
    """Brokers before Kafka 2.8 know no ids, or say the one that stands for none; a topic that has just gone has no partition."""
    some = [{"partition_index": 0}]
    described: list[dict[str, Any]] = [
        {
            "name": "orders",
            "topic_id": "e24b0ed5-b70b-4a00-9231-89c9c5c95216",
            "partitions": some,
        },
        {"name": "old", "topic_id": "00000000-0000-0000-0000-000000000000", "partitions": some},
        {"name": "older", "topic_id": None, "partitions": some},
        {"name": "gone", "topic_id": "e24b0ed5-b70b-4a00-9231-89c9c5c95217", "partitions": []},
    ]
    assert topic_names(described) == {"4ksO1bcLSgCSMYnJxclSFg": "orders"}


def shared(*partitions: tuple[int, int, int, int], topic: str = "orders", error: int = 0) -> Any:
    """A share group as version 1 describes it: partition, start offset, lag and error code of each partition."""
    described = [
        {
            "partitionIndex": partition,
            "startOffset": start,
            "leaderEpoch": 3 if start >= 0 else -1,
            "lag": lag,
            "errorCode": code,
        }
        for partition, start, lag, code in partitions
    ]
    return {"errorCode": error, "topics": [{"topicName": topic, "partitions": described}]}


def test_each_broker_is_asked_for_its_share_groups() -> None:
    """-1 is Kafka's word for an offset that is not there, or not known."""
    brokers = Brokers(
        {orders(0): 1},
        shares={1: {"pickers": shared((0, 104, 5, 0), (1, -1, -1, 0))}, 2: {}},
    )

    sample = sampler(brokers).sample()

    assert (sample.positions, sample.skipped) == (positions(0), [])
    assert sample.share_offsets == [
        ShareOffset("pickers", "orders", 0, 104, 3, 5),
        ShareOffset("pickers", "orders", 1, None, None, None),
    ]
    assert brokers.asked_for_shares == [
        (1, "ListGroups"),
        (1, "DescribeShareGroupOffsets"),
        (2, "ListGroups"),
    ]


def test_a_broker_of_kafka_41_reports_no_lag() -> None:
    described = shared((0, 104, 5, 0))
    del described["topics"][0]["partitions"][0]["lag"]

    sample = sampler(Brokers({orders(0): 1}, shares={1: {"pickers": described}})).sample()

    assert sample.share_offsets == [ShareOffset("pickers", "orders", 0, 104, 3, None)]


def test_brokers_without_the_api_are_asked_nothing() -> None:
    brokers = Brokers({orders(0): 1})

    assert sampler(brokers).sample().share_offsets == []
    assert brokers.asked_for_shares == []


def test_share_groups_that_cannot_be_described_do_not_take_the_others_with_them() -> None:
    brokers = Brokers(
        {orders(0): 1},
        shares={
            1: {
                "ended": shared(error=69),
                "hidden": shared(error=30),
                "pickers": shared((0, 104, 5, 0), (1, -1, -1, 3)),
            },
            2: RequestTimedOutError(),
        },
    )

    sample = sampler(brokers).sample()

    assert sample.positions == positions(0)
    assert sample.share_offsets == [ShareOffset("pickers", "orders", 0, 104, 3, 5)]
    assert sample.skipped == [
        Skipped("share group hidden", "GROUP_AUTHORIZATION_FAILED"),
        Skipped("share group pickers, orders-1", "UNKNOWN_TOPIC_OR_PARTITION"),
        Skipped("share groups of broker 2", "REQUEST_TIMED_OUT"),
    ]


def test_of_share_groups_too_only_the_wanted_topics_are_sampled() -> None:
    shares = {
        1: {"pickers": shared((0, 104, 5, 0)), "packers": shared((0, 1, 1, 0), topic="bills")}
    }

    sample = sampler(Brokers({orders(0): 1}, shares=shares), "orders").sample()

    assert [offset.group_id for offset in sample.share_offsets] == ["pickers"]
