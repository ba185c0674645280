from __future__ import annotations

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel.channel import RequestChannel
from group_coordinator.clients.channel_errors import RequestTimedOutError
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import (
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    NonEmptyGroupError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberOptions
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.fleet import polled, until_all_have
from tests.broker.clients.topics import NewTopics

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("cluster_topics")]

ORDERS = [TopicPartition("orders", number) for number in range(6)]
REFUNDS = [TopicPartition("refunds-and-complaints", number) for number in range(2)]


@pytest.mark.usefixtures("coordinator")
def test_offsets_come_and_go(admin: AdminClient) -> None:
    altered = admin.alter_consumer_group_offsets(
        "audit", {ORDERS[0]: 3, ORDERS[1]: OffsetAndMetadata(4, "note", 0)}
    )
    deleted = admin.delete_consumer_group_offsets("audit", [ORDERS[0], ORDERS[0]])

    altered.all()
    deleted.all()
    assert list(deleted) == [ORDERS[0]]
    assert admin.list_consumer_group_offsets("audit") == {
        ORDERS[1]: OffsetAndMetadata(4, "note", 0)
    }


@pytest.mark.usefixtures("coordinator")
def test_each_partition_has_its_own_outcome(admin: AdminClient) -> None:
    missing = TopicPartition("nowhere", 0)
    results = admin.alter_consumer_group_offsets("outcomes", {ORDERS[0]: 3, missing: 1})

    results.partition_result(ORDERS[0])
    with pytest.raises(UnknownTopicOrPartitionError):
        results.partition_result(missing)


@pytest.mark.usefixtures("coordinator")
def test_each_group_has_its_own_outcome(admin: AdminClient, channel: RequestChannel) -> None:
    admin.alter_consumer_group_offsets("idle", {ORDERS[0]: 3}).all()
    member = GroupMember(
        channel,
        "busy",
        ["orders"],
        {"orders": 6},
        options=MemberOptions(session_timeout_ms=10_000, heartbeat_interval_ms=300),
    )
    with polled([member]):
        until_all_have([member], 6)
        results = admin.delete_consumer_groups(["idle", "busy", "unknown", "idle"])
        offsets = admin.delete_consumer_group_offsets("busy", [ORDERS[0], REFUNDS[0]])
        described = admin.describe_consumer_groups(["busy", "unknown", "busy"])

    results["idle"]
    with pytest.raises(NonEmptyGroupError):
        results["busy"]
    with pytest.raises(GroupIdNotFoundError):
        results["unknown"]
    offsets.partition_result(REFUNDS[0])
    with pytest.raises(GroupSubscribedToTopicError) as refused:
        offsets.partition_result(ORDERS[0])
    assert refused.value.code == 86
    assert list(described) == ["busy", "unknown"]
    assert described["busy"].members[0].assignment == tuple(ORDERS)
    assert isinstance(described["unknown"].error, GroupIdNotFoundError)
    with pytest.raises(UnknownMemberIdError):
        admin.alter_consumer_group_offsets("busy", {ORDERS[0]: 3}).all()


@pytest.mark.usefixtures("coordinator")
def test_offsets_of_many_groups_at_once(admin: AdminClient) -> None:
    groups = [f"many-{number}" for number in range(5)]
    for number, group in enumerate(groups):
        admin.alter_consumer_group_offsets(group, {ORDERS[0]: number}).all()

    found = admin.list_offsets_of_groups([*groups, "many-unknown"])

    assert {
        group: [one.offset for one in offsets.values()] for group, offsets in found.items()
    } == {
        "many-0": [0],
        "many-1": [1],
        "many-2": [2],
        "many-3": [3],
        "many-4": [4],
        "many-unknown": [],
    }


def test_a_group_without_an_answer_does_not_hide_the_others(
    broker: EmbeddedBroker, new_topics: NewTopics
) -> None:
    topics = new_topics()
    with AdminClient(
        bootstrap_servers=[broker.bootstrap_servers],
        events_topic=topics.events,
        responses_topic=topics.responses,
        request_timeout_ms=300,
    ) as admin:
        results = admin.delete_consumer_groups(["a", "b"])

        with pytest.raises(RequestTimedOutError, match="DeleteGroups v2 for group 'b'"):
            results["b"]
        with pytest.raises(RequestTimedOutError, match="ConsumerGroupDescribe v1 for group 'a'"):
            admin.describe_consumer_groups(["a"])


def test_topics_of_the_cluster(broker: EmbeddedBroker) -> None:
    cluster = Cluster(Connection(broker.bootstrap_servers))
    nowhere = TopicPartition("nowhere", 0)

    assert cluster.partition_counts(["orders", "nowhere"]) == {"orders": 6}
    assert cluster.end_offsets([ORDERS[0], TopicPartition("orders", 9), nowhere]) == {ORDERS[0]: 4}
    assert cluster.end_offsets([nowhere]) == {}
    leader = cluster.leaders_of_keys("orders", ["billing"])["billing"]
    assert f"{leader.host}:{leader.port}" == broker.bootstrap_servers
    assert cluster.leaders_of_keys("nowhere", ["billing"]) == {}
    cluster.close()
