from __future__ import annotations

from kafka import TopicPartition

from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    consumer_description,
    describe_consumer_group,
)
from group_coordinator.clients.errors import InvalidGroupIdError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from group_coordinator.clients.offset_messages import MemberIdentity, commit_offsets
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS = "b3JkZXJzb3JkZXJzb3JkZQ"
BOTH = (TopicPartition("orders", 0), TopicPartition("orders", 1))


def ask(coordinator: CoordinatorInProcess, group: str) -> GroupDescription | None:
    answer = coordinator.send(describe_consumer_group(group)).result()
    return consumer_description(group, answer)


def joined(coordinator: CoordinatorInProcess) -> GroupMember:
    coordinator.tell_topics("billing", {"orders": (ORDERS, 2)})
    options = MemberOptions(client_id="a", group_protocol="consumer", group_instance_id="till-1")
    member = GroupMember(
        coordinator,
        "billing",
        ["orders"],
        topic_ids={"orders": ORDERS},
        options=options,
        clock=coordinator.clock,
    )
    member.join()
    return member


def test_a_consumer_group_and_its_member() -> None:
    coordinator = CoordinatorInProcess()
    member = joined(coordinator)

    described = ask(coordinator, "billing")

    assert described is not None
    assert (described.group_type, described.protocol_type) == ("consumer", "consumer")
    assert (described.state, described.partition_assignor) == ("Stable", "uniform")
    assert (described.group_epoch, described.target_assignment_epoch) == (2, 2)
    assert not described.is_simple_consumer_group
    [only] = described.members
    assert (only.member_id, only.group_instance_id) == (member.member_id, "till-1")
    assert (only.client_id, only.host) == ("a", "/127.0.0.1")
    assert (only.assignment, only.target_assignment) == (BOTH, BOTH)
    assert (only.member_epoch, only.upgraded) == (2, True)


def test_another_kind_of_group_is_left_to_describe_groups() -> None:
    coordinator = CoordinatorInProcess()
    offsets = {TopicPartition("orders", 0): 1}
    commit = commit_offsets(MemberIdentity("simple"), offsets)
    coordinator.send(commit)

    assert ask(coordinator, "simple") is None
    assert ask(coordinator, "unknown") is None


def test_a_coordinator_without_consumer_groups() -> None:
    assert consumer_description("billing", {"errorCode": 35}) is None


def test_a_group_that_cannot_be_described() -> None:
    described = ask(CoordinatorInProcess(), "")

    assert described is not None
    assert described.state == "Dead"
    assert isinstance(described.error, InvalidGroupIdError)
