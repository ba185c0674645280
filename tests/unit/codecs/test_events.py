from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from group_coordinator.codecs import events
from group_coordinator.codecs.events import Event
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.requests import (
    DeleteGroup,
    DescribeGroup,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    MemberIdentity,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    PartitionCommit,
    Request,
    SyncGroup,
    Tick,
    TopicCommit,
    TopicMetadata,
    TopicPartitions,
)
from group_coordinator.core.model.topic import Topic

Body = dict[str, Any]

SUBSCRIPTION = encode_subscription(["orders"])
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


def request(api: str, version: int, body: Body) -> Request:
    event = {"api": api, "version": version, "body": body}
    return events.decode(json.dumps(event).encode()).request


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def test_the_example_of_the_interface() -> None:
    event = events.decode(
        b"""{"api": "OffsetCommit", "version": 8, "correlationId": "c-17", "clientId": "billing",
             "clientHost": "/10.0.0.7", "principal": "User:billing",
             "body": {"groupId": "g", "generationIdOrMemberEpoch": 3, "memberId": "billing-1",
                      "topics": [{"name": "orders", "partitions": [
                          {"partitionIndex": 0, "committedOffset": 42,
                           "committedLeaderEpoch": -1, "committedMetadata": null}]}]}}"""
    )

    commit = PartitionCommit(0, 42, None, None, None)
    topics = (TopicCommit("orders", None, (commit,)),)
    assert event == Event(
        8,
        "c-17",
        "billing",
        "/10.0.0.7",
        "User:billing",
        OffsetCommit("g", 3, "billing-1", None, None, topics),
    )


@pytest.mark.parametrize(
    "unsaid", ["", ', "correlationId": null, "clientId": null, "clientHost": null'], ids=len
)
def test_an_event_need_not_say_who_sent_it(unsaid: str) -> None:
    event = events.decode(f'{{"api": "Tick", "version": 0{unsaid}}}'.encode())

    assert event == Event(0, None, "client", "/127.0.0.1", None, Tick(""))


def test_a_client_may_have_an_empty_name() -> None:
    event = events.decode(b'{"api": "Tick", "version": 0, "clientId": "", "clientHost": ""}')

    assert (event.client_id, event.client_host) == ("", "")


def join_group_body(**fields: object) -> Body:
    protocols = [{"name": "range", "metadata": base64(SUBSCRIPTION)}]
    required = {"groupId": "g", "sessionTimeoutMs": 10_000, "memberId": "m"}
    return required | {"protocolType": "consumer", "protocols": protocols} | fields


def joined(rebalance_timeout_ms: int, instance_id: str | None = None) -> JoinGroup:
    protocols = (Protocol("range", SUBSCRIPTION, ("orders",)),)
    return JoinGroup("g", 10_000, rebalance_timeout_ms, "m", instance_id, "consumer", protocols)


def test_join_group_0_has_one_timeout_for_both() -> None:
    assert request("JoinGroup", 0, join_group_body()) == joined(10_000)
    assert request("JoinGroup", 0, join_group_body(rebalanceTimeoutMs=1)) == joined(10_000)


@pytest.mark.parametrize("version", range(1, 10))
def test_join_group_has_a_rebalance_timeout(version: int) -> None:
    assert request("JoinGroup", version, join_group_body(rebalanceTimeoutMs=5)) == joined(5)
    assert request("JoinGroup", version, join_group_body()) == joined(-1)


@pytest.mark.parametrize("version", range(5, 10))
def test_join_group_5_brings_static_members(version: int) -> None:
    body = join_group_body(rebalanceTimeoutMs=5, groupInstanceId="i", reason="a reason")

    assert request("JoinGroup", version, body) == joined(5, "i")


def test_only_consumers_have_subscriptions() -> None:
    body = join_group_body(protocolType="connect")

    protocols = (Protocol("range", SUBSCRIPTION, None),)
    assert request("JoinGroup", 0, body) == JoinGroup(
        "g", 10_000, 10_000, "m", None, "connect", protocols
    )


@pytest.mark.parametrize("version", range(6))
def test_sync_group(version: int) -> None:
    body = {
        "groupId": "g",
        "generationId": 4,
        "memberId": "m",
        "groupInstanceId": "i" if version >= 3 else None,
        "protocolType": "consumer",
        "protocolName": "range",
        "assignments": [{"memberId": "m", "assignment": "AAE="}],
    }

    named = ("consumer", "range") if version >= 5 else (None, None)
    instance_id = "i" if version >= 3 else None
    assignments = (("m", b"\x00\x01"),)
    expected = SyncGroup("g", 4, "m", instance_id, *named, assignments)
    assert request("SyncGroup", version, body) == expected


@pytest.mark.parametrize("version", range(5))
def test_heartbeat(version: int) -> None:
    body = {"groupId": "g", "generationId": 4, "memberId": "m"}

    assert request("Heartbeat", version, body) == Heartbeat("g", 4, "m", None)
    if version >= 3:
        static = body | {"groupInstanceId": ""}
        assert request("Heartbeat", version, static) == Heartbeat("g", 4, "m", "")


@pytest.mark.parametrize("version", range(3))
def test_leave_group_carried_one_member_at_first(version: int) -> None:
    body = {"groupId": "g", "memberId": "m", "members": []}

    assert request("LeaveGroup", version, body) == LeaveGroup("g", (MemberIdentity("m", None),))


@pytest.mark.parametrize("version", range(3, 6))
def test_leave_group_carries_several_members(version: int) -> None:
    members = [{"memberId": "m"}, {"memberId": "", "groupInstanceId": "i", "reason": "gone"}]

    identities = (MemberIdentity("m", None), MemberIdentity("", "i"))
    assert request("LeaveGroup", version, {"groupId": "g", "members": members}) == LeaveGroup(
        "g", identities
    )


def commit_body(topic: Body, partition: Body, **fields: object) -> Body:
    entry = {"partitionIndex": 2, "committedOffset": 42} | partition
    return {"groupId": "g", "topics": [topic | {"partitions": [entry]}]} | fields


def committed(
    name: str | None = "orders",
    topic_id: str | None = None,
    leader_epoch: int | None = None,
    metadata: str | None = "",
    commit_timestamp_ms: int | None = None,
    retention_time_ms: int | None = None,
) -> OffsetCommit:
    entry = PartitionCommit(2, 42, leader_epoch, metadata, commit_timestamp_ms)
    topics = (TopicCommit(name, topic_id, (entry,)),)
    return OffsetCommit("g", None, "", None, retention_time_ms, topics)


@pytest.mark.parametrize("version", range(1, 11))
def test_offset_commit_without_a_member_is_an_administrators(version: int) -> None:
    topic = {"topicId": ORDERS_ID} if version >= 10 else {"name": "orders"}
    body = commit_body(topic, {}, generationIdOrMemberEpoch=-1, memberId="")

    expected = committed(None, ORDERS_ID) if version >= 10 else committed()
    assert request("OffsetCommit", version, body) == expected
    assert request("OffsetCommit", version, commit_body(topic, {})) == expected


@pytest.mark.parametrize("version", range(1, 11))
def test_retention_time_was_in_versions_2_to_4(version: int) -> None:
    body = commit_body({"name": "orders", "topicId": ORDERS_ID}, {}, retentionTimeMs=5_000)

    commit = request("OffsetCommit", version, body)
    assert isinstance(commit, OffsetCommit)
    assert commit.retention_time_ms == (5_000 if version in (2, 3, 4) else None)
    unlimited = request("OffsetCommit", version, body | {"retentionTimeMs": -1})
    assert unlimited == commit.replace(retention_time_ms=None)


@pytest.mark.parametrize("version", range(1, 11))
def test_leader_epochs_came_with_version_6(version: int) -> None:
    body = commit_body({"name": "orders", "topicId": ORDERS_ID}, {"committedLeaderEpoch": 7})

    commit = request("OffsetCommit", version, body)
    assert isinstance(commit, OffsetCommit)
    assert commit.topics[0].partitions[0].leader_epoch == (7 if version >= 6 else None)


def test_offset_commit_1_may_give_its_own_time() -> None:
    named = {"name": "orders"}

    timed = commit_body(named, {"commitTimestamp": 99})
    assert request("OffsetCommit", 1, timed) == committed(commit_timestamp_ms=99)
    untimed = commit_body(named, {"commitTimestamp": -1})
    assert request("OffsetCommit", 1, untimed) == committed()
    assert request("OffsetCommit", 2, untimed) == committed()


def test_offset_commit_10_goes_by_topic_id() -> None:
    by_id = commit_body({"name": "ignored", "topicId": ORDERS_ID}, {})
    assert request("OffsetCommit", 10, by_id) == committed(None, ORDERS_ID)
    by_name = commit_body({"name": "orders", "topicId": ORDERS_ID}, {})
    assert request("OffsetCommit", 9, by_name) == committed("orders", None)
    for nameless in ({"topicId": ZERO_ID}, {}):
        assert request("OffsetCommit", 10, commit_body(nameless, {})) == committed(None, None)


def test_metadata_may_be_null() -> None:
    body = commit_body({"name": "orders"}, {"committedMetadata": None})

    assert request("OffsetCommit", 8, body) == committed(metadata=None)


@pytest.mark.parametrize("version", range(1, 8))
def test_offset_fetch_was_flat_until_version_7(version: int) -> None:
    body = {"groupId": "g", "topics": [{"name": "orders", "partitionIndexes": [0, 1]}]}

    topics = (TopicPartitions("orders", None, (0, 1)),)
    expected = OffsetFetch("g", None, None, topics, require_stable=False)
    assert request("OffsetFetch", version, body) == expected
    if version >= 2:
        everything = request("OffsetFetch", version, {"groupId": "g", "topics": None})
        assert everything == expected.replace(topics=None)
    if version == 7:
        stable = request("OffsetFetch", 7, body | {"requireStable": True})
        assert stable == expected.replace(require_stable=True)


@pytest.mark.parametrize("version", [8, 9, 10])
def test_offset_fetch_carries_groups_since_version_8(version: int) -> None:
    topic = {"name": "orders", "topicId": ORDERS_ID, "partitionIndexes": [0, 1]}
    group = {"groupId": "g", "memberId": "m", "memberEpoch": 5, "topics": [topic]}

    names = (None, ORDERS_ID) if version == 10 else ("orders", None)
    member = ("m", 5) if version >= 9 else (None, None)
    topics = (TopicPartitions(*names, (0, 1)),)
    expected = OffsetFetch("g", *member, topics, require_stable=False)
    assert request("OffsetFetch", version, {"groups": [group]}) == expected
    everything = {"groups": [{"groupId": "g", "topics": None}], "requireStable": True}
    assert request("OffsetFetch", version, everything) == OffsetFetch(
        "g", None, None, None, require_stable=True
    )


def test_offset_delete() -> None:
    body = {"groupId": "g", "topics": [{"name": "orders", "partitions": [{"partitionIndex": 3}]}]}

    topics = (TopicPartitions("orders", None, (3,)),)
    assert request("OffsetDelete", 0, body) == OffsetDelete("g", topics)


@pytest.mark.parametrize("version", range(3))
def test_delete_groups_is_about_one_group_however_often_it_is_named(version: int) -> None:
    assert request("DeleteGroups", version, {"groupsNames": ["g", "g"]}) == DeleteGroup("g")


@pytest.mark.parametrize("version", range(7))
def test_describe_groups(version: int) -> None:
    assert request("DescribeGroups", version, {"groups": ["g"]}) == DescribeGroup("g")
    if version >= 3:
        asked = {"groups": ["g"], "includeAuthorizedOperations": True}
        wanted = DescribeGroup("g", asks_for_operations=True)
        assert request("DescribeGroups", version, asked) == wanted


def test_topic_metadata() -> None:
    known = {
        "name": "orders",
        "topicId": ORDERS_ID,
        "numPartitions": 3,
        "racks": [["b", "a"], [], ["b"]],
    }
    gone = {"name": "payments", "topicId": ZERO_ID}
    body = {"groupId": "g", "topics": [known], "deletedTopics": [gone]}

    topics = (Topic("orders", ORDERS_ID, 3, (("a", "b"), (), ("b",))),)
    expected = TopicMetadata("g", topics, (("payments", ZERO_ID),))
    assert request("TopicMetadata", 0, body) == expected


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        ("JoinGroup", JoinGroup("", 0, 0, "", None, "", ())),
        ("SyncGroup", SyncGroup("", 0, "", None, None, None, ())),
        ("Heartbeat", Heartbeat("", 0, "", None)),
        ("LeaveGroup", LeaveGroup("", (MemberIdentity("", None),))),
        ("OffsetDelete", OffsetDelete("", ())),
    ],
)
def test_what_is_left_out_has_kafkas_default(api: str, expected: Request) -> None:
    assert request(api, 0, {}) == expected
