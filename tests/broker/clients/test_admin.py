from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from kafka import KafkaAdminClient, OffsetAndMetadata, OffsetSpec, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, OffsetTimestamp

from group_coordinator.clients.admin.client import AdminClient, AsyncAdminClient
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import (
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    NonEmptyGroupError,
    RequestTimedOutError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from group_coordinator.clients.reset_plan import ShiftBy
from group_coordinator.clients.results import MemberToRemove
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.fleet import polled, until_all_have
from tests.broker.clients.topics import NewTopics, Topics
from tests.support.until import until

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("cluster_topics")]

ORDERS = [TopicPartition("orders", number) for number in range(6)]
REFUNDS = [TopicPartition("refunds-and-complaints", number) for number in range(2)]
FAR_AWAY_MS = 4_000_000_000_000


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
    assert cluster.start_offsets([ORDERS[0], nowhere]) == {ORDERS[0]: 0}
    assert cluster.offsets_since([ORDERS[0], nowhere], 0) == {ORDERS[0]: 0}
    assert cluster.offsets_since([ORDERS[0]], FAR_AWAY_MS) == {}
    assert cluster.partition_leaders(["nowhere"]) == {}
    leader = cluster.leaders_of_keys("orders", ["billing"])["billing"]
    assert f"{leader.host}:{leader.port}" == broker.bootstrap_servers
    assert cluster.leaders_of_keys("nowhere", ["billing"]) == {}
    cluster.close()


@pytest.mark.usefixtures("coordinator")
def test_resets_are_kafka_pythons(admin: AdminClient, kafka_admin: KafkaAdminClient) -> None:
    specs = {
        ORDERS[0]: OffsetSpec.EARLIEST,
        ORDERS[1]: OffsetSpec.LATEST,
        ORDERS[2]: OffsetTimestamp(0),
        ORDERS[3]: OffsetTimestamp(FAR_AWAY_MS),
        ORDERS[4]: 3,
        ORDERS[5]: 99,
        REFUNDS[0]: OffsetTimestamp(0),
    }

    reset = admin.reset_consumer_group_offsets("reset-by-us", specs)
    theirs = kafka_admin.reset_group_offsets("reset-by-them", dict(specs))

    reset.all()
    assert reset.offsets == {partition: each["offset"] for partition, each in theirs.items()}
    assert list(reset.offsets.values()) == [0, 4, 0, 4, 3, 4, 0]
    shifted = admin.reset_consumer_group_offsets(
        "reset-by-us", {ORDERS[4]: ShiftBy(-2), ORDERS[5]: ShiftBy(-9)}
    )
    shifted.all()
    committed = admin.list_consumer_group_offsets("reset-by-us", ORDERS[4:])
    assert [committed[partition].offset for partition in ORDERS[4:]] == [1, 0]


@pytest.mark.usefixtures("coordinator")
def test_members_are_removed(
    admin: AdminClient,
    kafka_admin: KafkaAdminClient,
    channel: RequestChannel,
    topic_ids: Mapping[str, str],
) -> None:
    static = MemberOptions(group_instance_id="till-1")
    old = GroupMember(channel, "removed-old", ["orders"], {"orders": 6}, options=static)
    modern = MemberOptions(group_protocol="consumer")
    new = GroupMember(channel, "removed-new", ["orders"], topic_ids=topic_ids, options=modern)
    old.join()
    new.join()
    nobody = MemberToRemove(group_instance_id="nobody")

    by_name = admin.remove_members_from_consumer_group("removed-old", [nobody])
    from_old = admin.remove_members_from_consumer_group("removed-old")
    from_new = admin.remove_members_from_consumer_group("removed-new")
    again = admin.remove_members_from_consumer_group("removed-new")

    with pytest.raises(UnknownMemberIdError):
        by_name.member_result(nobody)
    from_old.member_result(MemberToRemove(group_instance_id="till-1"))
    from_new.member_result(MemberToRemove(new.member_id))
    assert list(again) == []
    [described] = kafka_admin.describe_groups(["removed-old"]).values()
    assert (described["group_state"], described["members"]) == ("Empty", [])
    assert admin.describe_consumer_groups(["removed-new"])["removed-new"].state == "Empty"


@pytest.mark.usefixtures("coordinator")
def test_settings_are_those_that_kafka_keeps(
    admin: AdminClient, kafka_admin: KafkaAdminClient
) -> None:
    name = "consumer.session.timeout.ms"
    group = ConfigResource(ConfigResourceType.GROUP, "with-settings")

    admin.alter_group_configs({"with-settings": {name: "50000"}}).all()

    # Its metadata log is what a broker learns them from.
    def is_known() -> bool:
        return (
            admin.describe_group_configs(["with-settings"])["with-settings"][name].value == "50000"
        )

    until(is_known, seconds=10, awaited="the setting")
    ours = admin.describe_group_configs(["with-settings"])["with-settings"]
    [theirs] = kafka_admin.describe_configs([group], config_filter="all").values()
    assert {name: entry.value for name, entry in ours.items()} == {
        name: entry["value"] for name, entry in theirs["with-settings"].items()
    }


@pytest.mark.usefixtures("coordinator")
def test_what_one_may_do_with_a_group(admin: AdminClient, kafka_admin: KafkaAdminClient) -> None:
    admin.alter_consumer_group_offsets("permitted", {ORDERS[0]: 3}).all()

    ours = admin.describe_consumer_groups(["permitted"], include_authorized_operations=True)
    theirs = kafka_admin.describe_groups(["permitted"], include_authorized_operations=True)

    operations = ours["permitted"].authorized_operations
    assert operations is not None
    names = {operation.name for operation in operations}
    assert names == set(theirs["permitted"]["authorized_operations"])


@pytest.mark.usefixtures("coordinator")
def test_the_asyncio_twin(broker: EmbeddedBroker, topics: Topics) -> None:
    async def story() -> list[int]:
        async with AsyncAdminClient(
            bootstrap_servers=broker.bootstrap_servers,
            events_topic=topics.events,
            responses_topic=topics.responses,
            request_timeout_ms=20_000,
        ) as admin:
            groups = [f"twin-{number}" for number in range(5)]
            altered = await asyncio.gather(
                *(admin.alter_consumer_group_offsets(group, {ORDERS[0]: 3}) for group in groups)
            )
            for result in altered:
                result.all()
            reset = {ORDERS[0]: OffsetSpec.LATEST}
            (await admin.reset_consumer_group_offsets("twin-0", reset)).all()
            offsets = await admin.list_offsets_of_groups(groups)
            return [offsets[group][ORDERS[0]].offset for group in groups]

    assert asyncio.run(story()) == [4, 3, 3, 3, 3]
