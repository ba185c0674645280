"""Members of the consumer protocol (KIP-848) on Kafka's own coordinator."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel import Request, RequestChannel
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import (
    MemberOptions,
    MemberState,
    SubscriptionPattern,
)
from tests.broker.clients.fleet import DEADLINE_S, polled, until_all_have, until_shared
from tests.support.until import until

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("coordinator", "cluster_topics")]

REFUNDS = "refunds-and-complaints"


def new_member(
    channel: RequestChannel,
    topic_ids: Mapping[str, str],
    group: str,
    topics: Collection[str] | SubscriptionPattern = ("orders",),
    **options: Any,
) -> GroupMember:
    told = MemberOptions(group_protocol="consumer", **options)
    return GroupMember(channel, group, topics, topic_ids=topic_ids, options=told)


def leave_for_good(channel: RequestChannel, group: str, member: GroupMember) -> None:
    """A static member that leaves with epoch -2, as GroupMember does, keeps its place until its session ends, 45 s later."""
    member.leave()
    body = {
        "groupId": group,
        "memberId": member.member_id,
        "instanceId": "till-1",
        "memberEpoch": -1,
        "rebalanceTimeoutMs": -1,
        "rackId": None,
        "serverAssignor": None,
        **dict.fromkeys(("subscribedTopicNames", "subscribedTopicRegex", "topicPartitions")),
    }
    answer = channel.send(Request("ConsumerGroupHeartbeat", 1, group, body)).result()
    assert answer["errorCode"] == 0


def test_a_group_lives_on_kafkas_own_coordinator(
    channel: RequestChannel, admin: AdminClient, topic_ids: Mapping[str, str]
) -> None:
    members = [
        new_member(channel, topic_ids, "modern-lives", client_id=f"member-{number}")
        for number in range(3)
    ]
    with polled(members):
        until_shared(members, 2, 2, 2)
        described = admin.describe_consumer_groups(["modern-lives"])["modern-lives"]
    members[0].leave()
    with polled(members[1:]):
        until_shared(members[1:], 3, 3)

    assert (described.group_type, described.state) == ("consumer", "Stable")
    assert described.partition_assignor == "uniform"
    assert {member.client_id for member in described.members} == {
        "member-0",
        "member-1",
        "member-2",
    }
    assert {member.member_id for member in described.members} == {
        member.member_id for member in members
    }
    assert members[0].state is MemberState.LEFT


def test_join_commit_and_leave_may_block(
    channel: RequestChannel, admin: AdminClient, topic_ids: Mapping[str, str]
) -> None:
    member = new_member(channel, topic_ids, "modern-blocks")
    order, refund = TopicPartition("orders", 0), TopicPartition(REFUNDS, 0)

    member.join()
    member.commit({order: 42})
    member.commit({order: 43, refund: 7})
    member.leave()

    assert admin.describe_consumer_groups(["modern-blocks"])["modern-blocks"].state == "Empty"
    assert admin.list_consumer_group_offsets("modern-blocks") == {
        order: OffsetAndMetadata(43, "", -1),
        refund: OffsetAndMetadata(7, "", -1),
    }


def test_a_pattern_and_then_names(channel: RequestChannel, topic_ids: Mapping[str, str]) -> None:
    pattern = SubscriptionPattern("refunds-.*")
    member = new_member(channel, topic_ids, "modern-pattern", pattern)
    with polled([member]):
        until_all_have([member], 2)
        assert {partition.topic for partition in member.assignment} == {REFUNDS}

        member.subscribe(["orders"])
        until_all_have([member], 6)
    member.leave()


def test_a_static_member_finds_its_partitions_again(
    channel: RequestChannel, admin: AdminClient, topic_ids: Mapping[str, str]
) -> None:
    first = new_member(channel, topic_ids, "modern-static", group_instance_id="till-1")
    other = new_member(channel, topic_ids, "modern-static")
    with polled([first, other]):
        until_shared([first, other], 3, 3)
    had = first.assignment
    successor = new_member(channel, topic_ids, "modern-static", group_instance_id="till-1")
    successor.poll()
    until(
        lambda: successor.poll() is None and successor.state is MemberState.UNJOINED,
        seconds=DEADLINE_S,
        awaited="the refusal of a successor",
    )

    first.leave()
    with polled([successor, other]):
        until(
            lambda: successor.state is MemberState.STABLE,
            seconds=DEADLINE_S,
            awaited="a successor's join",
        )

    assert successor.assignment == had
    assert len(other.assignment) == 3
    other.leave()
    leave_for_good(channel, "modern-static", successor)
    assert admin.describe_consumer_groups(["modern-static"])["modern-static"].state == "Empty"


def test_a_classic_group_is_upgraded_while_it_works(
    channel: RequestChannel, admin: AdminClient, topic_ids: Mapping[str, str]
) -> None:
    options = MemberOptions(client_id="old", heartbeat_interval_ms=300, rebalance_timeout_ms=10_000)
    old = [GroupMember(channel, "moves", ["orders"], {"orders": 6}, options=options)]
    old.append(GroupMember(channel, "moves", ["orders"], {"orders": 6}, options=options))
    new = [new_member(channel, topic_ids, "moves") for _ in range(2)]
    with polled(old):
        until_all_have(old, 6)
    with polled([*old, new[0]]):
        until_shared([*old, new[0]], 2, 2, 2)
        mixed = admin.describe_consumer_groups(["moves"])["moves"]
    old[0].leave()
    with polled([old[1], *new]):
        until_shared([old[1], *new], 2, 2, 2)
    old[1].leave()
    with polled(new):
        until_shared(new, 3, 3)
        moved = admin.describe_consumer_groups(["moves"])["moves"]

    assert sorted(str(member.upgraded) for member in mixed.members) == ["False", "False", "True"]
    assert [member.upgraded for member in moved.members] == [True, True]
    for member in new:
        member.leave()
