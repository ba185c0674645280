"""Requests of `mirror --source admin` to brokers of older Kafkas.

Kafka 2.4 has neither topic ids nor DescribeCluster, and describes the offsets of one group in a response; Kafka 3.3 has version 0 of
DescribeCluster; Kafka 3.9 is the last with ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer
from kafka import KafkaAdminClient, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import NoError

from group_coordinator.cli import check
from group_coordinator.clients.cluster.cluster import BrokerRetention, Cluster, broker_retention
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.group_poll import (
    PolledGroup,
    brokers,
    ended_groups,
    polled_groups,
)
from group_coordinator.clients.cluster.held_rights import has_right
from group_coordinator.clients.cluster.positions import PositionSampler
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.core.acls import CLUSTER_NAME, Operation, ResourceType, Right
from group_coordinator.local.jars import JarsError
from group_coordinator.tables.position import Position
from tests.support.older_broker import older_broker
from tests.support.until import until

pytestmark = pytest.mark.kafka

ORDERS = TopicPartition("orders", 0)
WITHOUT_TOPIC_IDS = "2.4.1"
DEADLINE_S = 60


class Older(NamedTuple):
    """A broker with five records in orders-0."""

    version: str
    connection: Connection
    admin: KafkaAdminClient

    def polled(self) -> dict[str, PolledGroup]:
        [broker_id] = brokers(self.connection)
        return {each.group_id: each for each in polled_groups(self.connection, broker_id)}


@pytest.fixture(scope="module", params=[WITHOUT_TOPIC_IDS, "3.3.2", "3.9.2"])
def older(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Older]:
    with ExitStack() as running:
        try:
            folder = tmp_path_factory.mktemp("kafka")
            connection = running.enter_context(older_broker(request.param, folder))
        except JarsError as error:
            if "could not be fetched" not in str(error):
                raise
            pytest.skip(f"no jars of Kafka {request.param}: {error}")
        servers = connection.bootstrap_servers
        admin = running.enter_context(closing(KafkaAdminClient(bootstrap_servers=servers)))
        admin.create_topics([NewTopic(ORDERS.topic, 1, 1)], wait_for_metadata=True)
        with closing(KafkaProducer(bootstrap_servers=servers)) as producer:
            for sent in [producer.send(ORDERS.topic, b"order", partition=0) for _ in range(5)]:
                sent.get(DEADLINE_S)
        yield Older(request.param, connection, admin)


def join_and_commit(member: Consumer) -> None:
    """Read the records of orders-0, and commit them."""
    member.subscribe([ORDERS.topic])
    read: list[Any] = []

    def all_are_read() -> bool:
        read.extend(member.consume(5, 0.2))
        return len(read) == 5

    until(all_are_read, seconds=DEADLINE_S, awaited="the records")
    assert [each.error() for each in read] == [None] * 5
    member.commit(asynchronous=False)


def test_a_poll_has_members_and_offsets_until_the_group_is_deleted(older: Older) -> None:
    options = {
        "bootstrap.servers": older.connection.bootstrap_servers,
        "group.id": "billing",
        "group.instance.id": "billing-1",
        "client.id": "biller",
        "partition.assignment.strategy": "range",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    with closing(Consumer(options)) as member:
        join_and_commit(member)
        for group in ("audit", "archive"):
            changed = {ORDERS: OffsetAndMetadata(2, "by hand", -1)}
            assert older.admin.alter_group_offsets(group, changed) == {ORDERS: NoError}

        found = older.polled()

    assert {group: (each.group_type, each.error) for group, each in found.items()} == {
        "billing": ("classic", ""),
        "audit": ("classic", ""),
        "archive": ("classic", ""),
    }
    assert {group: described(each) for group, each in found.items()} == {
        "billing": ("Stable", "range", [("billing-1", "biller", ASSIGNMENT)]),
        "audit": ("Empty", "", []),
        "archive": ("Empty", "", []),
    }
    assert {group: offsets(each) for group, each in found.items()} == {
        "billing": [("orders", 0, 5, "")],
        "audit": [("orders", 0, 2, "by hand")],
        "archive": [("orders", 0, 2, "by hand")],
    }

    assert older.admin.delete_groups(["archive"]) == {"archive": "OK"}
    assert older.polled().keys() == {"billing", "audit"}
    assert ended_groups(older.connection, ["archive", "audit"]) == {"archive"}


ASSIGNMENT = "AAAAAAABAAZvcmRlcnMAAAABAAAAAAAAAAA="
"""Partition 0 of orders, as a consumer reads it."""


def described(group: PolledGroup) -> tuple[Any, ...]:
    description = group.description
    assert description is not None
    members = [
        (member["groupInstanceId"], member["clientId"], member["memberAssignment"])
        for member in description["members"]
    ]
    return description["groupState"], description["protocolData"], members


def offsets(group: PolledGroup) -> list[tuple[Any, ...]]:
    return [
        (
            topic["name"],
            partition["partitionIndex"],
            partition["committedOffset"],
            partition["metadata"],
        )
        for topic in group.topics
        for partition in topic["partitions"]
    ]


def test_a_sample_has_the_ends_of_logs_and_the_retention_is_that_of_the_broker(
    older: Older,
) -> None:
    with closing(PositionSampler(older.connection, None)) as sampler:
        sample = sampler.sample()
    assert (sample.positions, sample.skipped) == ([Position("orders", 0, 0, 5, 5)], [])
    assert broker_retention(older.connection) == BrokerRetention(10_080, 600_000)


def test_a_topic_is_known_by_its_name_where_it_has_no_id(older: Older) -> None:
    with closing(Cluster(older.connection)) as cluster:
        seen = cluster.topics_seen(["nowhere", "orders"])

    assert seen["nowhere"] is None
    assert (seen["orders"] == ZERO_UUID) == (older.version == WITHOUT_TOPIC_IDS)


def test_check_asks_for_the_rights(older: Older) -> None:
    arguments = ["--for", "mirror-admin", "--bootstrap-server", older.connection.bootstrap_servers]
    checked = CliRunner().invoke(check.command, arguments)

    assert checked.output == (
        "right  rights             DESCRIBE on GROUP *, DESCRIBE on TOPIC *, DESCRIBE_CONFIGS on CLUSTER kafka-cluster\n"
    )
    of_cluster = Right(Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    assert has_right(older.admin, of_cluster)
