"""Polls of a real broker: groups that only commit, many of them, and an older broker's OffsetFetch; every kind: tests/spark."""

from __future__ import annotations

import pytest
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import NoError

from group_coordinator.clients.cluster import group_poll
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.group_poll import (
    CLASSIC,
    PolledGroup,
    brokers,
    ended_groups,
    polled_groups,
)
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.codecs import wire
from group_coordinator.local.broker import EmbeddedBroker

pytestmark = pytest.mark.kafka

ORDERS = TopicPartition("poll-orders", 1)
GROUPS = [f"poll-{number}" for number in range(205)]
"""More than two requests have."""


@pytest.fixture(scope="module")
def connection(broker: EmbeddedBroker) -> Connection:
    """To a broker with these groups."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(ORDERS.topic, 2, 1)], wait_for_metadata=True)
        for number, group in enumerate(GROUPS):
            changed = {ORDERS: OffsetAndMetadata(number, "note", 3)}
            assert admin.alter_group_offsets(group, changed) == {ORDERS: NoError}
    return Connection(broker.bootstrap_servers)


def polled(connection: Connection) -> dict[str, PolledGroup]:
    [broker_id] = brokers(connection)
    return {each.group_id: each for each in polled_groups(connection, broker_id)}


# The broker of Kafka 2.4 has 6; from 8 on a request names several groups.
@pytest.mark.parametrize("version", [9, 8, 6, 2])
def test_each_group_has_its_offsets_by_every_version(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setattr(group_poll, "_NAMES_UNTIL", version)

    found = polled(connection)

    assert {
        group: found[group].topics[0]["partitions"][0]["committedOffset"] for group in GROUPS
    } == {group: number for number, group in enumerate(GROUPS)}
    last = found[GROUPS[-1]]
    assert (last.group_type, last.error) == (CLASSIC, "")
    assert last.description is not None
    assert last.description["groupState"] == "Empty"
    [topic] = last.topics
    assert topic["name"] == ORDERS.topic
    [partition] = topic["partitions"]
    assert (partition["partitionIndex"], partition["metadata"]) == (1, "note")
    assert ended_groups(connection, [GROUPS[0], "poll-none"]) == {"poll-none"}


def test_groups_without_a_common_version_of_their_description_are_unknown(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As share groups of Kafka 4.0, which has the version 0 of ShareGroupDescribe alone."""
    defined = wire.valid_versions
    later = {"DescribeGroups": range(99, 100)}
    monkeypatch.setattr(wire, "valid_versions", lambda api: later.get(api) or defined(api))

    found = polled(connection)

    unknown = {(found[group].error, found[group].description) for group in GROUPS}
    assert unknown == {("UNSUPPORTED_VERSION", None)}


def test_a_cluster_that_is_away_is_an_error() -> None:
    with pytest.raises(BrokerUnreachableError, match="no Kafka broker responds"):
        brokers(Connection("127.0.0.1:1"))
