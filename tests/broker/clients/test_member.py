from __future__ import annotations

import pytest
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions, MemberState
from tests.broker.clients.fleet import polled, until_all_have

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("coordinator", "cluster_topics")]

COUNTS = {"orders": 6}


def new_member(channel: RequestChannel, group: str, name: str) -> GroupMember:
    options = MemberOptions(
        client_id=name,
        session_timeout_ms=6_000,
        rebalance_timeout_ms=10_000,
        heartbeat_interval_ms=300,
    )
    return GroupMember(channel, group, ["orders"], COUNTS, options=options)


def test_a_group_lives_on_kafkas_own_coordinator(
    channel: RequestChannel, kafka_admin: KafkaAdminClient
) -> None:
    members = [new_member(channel, "lives", f"member-{number}") for number in range(3)]
    with polled(members):
        until_all_have(members, 6)
        described = kafka_admin.describe_groups(["lives"])["lives"]
    members[0].leave()
    with polled(members[1:]):
        until_all_have(members[1:], 6)

    assert described["group_state"] == "Stable"
    assert {member["client_id"] for member in described["members"]} == {
        "member-0",
        "member-1",
        "member-2",
    }
    assert members[0].state is MemberState.LEFT
    assert sorted(len(member.assignment) for member in members[1:]) == [3, 3]


def test_join_commit_and_leave_may_block(channel: RequestChannel, admin: AdminClient) -> None:
    member = new_member(channel, "blocks", "lonely")
    first = TopicPartition("orders", 0)

    member.join()
    member.commit({first: 42})
    member.leave()

    assert admin.describe_consumer_groups(["blocks"])["blocks"].state == "Empty"
    assert admin.list_consumer_group_offsets("blocks") == {first: OffsetAndMetadata(42, "", -1)}
