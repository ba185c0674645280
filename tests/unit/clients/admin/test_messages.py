from __future__ import annotations

from kafka import TopicPartition

from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    consumer_description,
    describe_consumer_group,
)
from group_coordinator.clients.errors import (
    CoordinatorResponseError,
    GroupIdNotFoundError,
    InvalidGroupIdError,
    InvalidRequestError,
    NonEmptyGroupError,
    NotAConsumerGroupError,
)
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.offset_messages import MemberIdentity, commit_offsets
from tests.unit.clients.billing import commit, join_classic, new_member
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS_0 = TopicPartition("orders", 0)
ORDERS_1 = TopicPartition("orders", 1)
REFUNDS_0 = TopicPartition("refunds", 0)


def describe(coordinator: CoordinatorInProcess, group: str) -> GroupDescription:
    return descriptions.description(
        group, coordinator.send(descriptions.describe_group(group)).result()
    )


def delete(coordinator: CoordinatorInProcess, group: str) -> CoordinatorResponseError | None:
    return descriptions.deletion_error(coordinator.send(descriptions.delete_group(group)).result())


def test_a_stable_group(coordinator: CoordinatorInProcess) -> None:
    member = join_classic(coordinator, ["orders", "refunds"])

    group = describe(coordinator, "billing")

    found = (group.state, group.protocol_type, group.partition_assignor, group.error)
    assert found == ("Stable", "consumer", "range", None)
    [described] = group.members
    assert (described.member_id, described.client_id) == (member.member_id, "a")
    assert described.host == "/127.0.0.1"
    assert described.assignment == (ORDERS_0, ORDERS_1, REFUNDS_0)


def test_a_simple_group(coordinator: CoordinatorInProcess) -> None:
    commit(coordinator, {ORDERS_0: 42}).all()

    group = describe(coordinator, "billing")

    assert (group.state, group.members, group.is_simple_consumer_group) == ("Empty", (), True)


def test_a_group_that_is_not_there(coordinator: CoordinatorInProcess) -> None:
    group = describe(coordinator, "unknown")

    assert group.state == "Dead"
    assert isinstance(group.error, GroupIdNotFoundError)
    assert str(group.error) == "Group unknown not found."


def test_a_group_of_kafka_connect_is_not_shown() -> None:
    described = {"errorCode": 0, "errorMessage": None, "groupId": "connect"}
    of_type = {"protocolType": "connect", "protocolData": "compatible", "groupState": "Stable"}
    members = [{"memberId": "not looked at"}]

    group = descriptions.description(
        "connect", {"groups": [{**described, **of_type, "members": members}]}
    )

    assert isinstance(group.error, NotAConsumerGroupError)
    assert group.members == ()
    assert str(group.error) == "GroupId connect is not a consumer group (connect)."


def test_groups_are_deleted(coordinator: CoordinatorInProcess) -> None:
    commit(coordinator, {ORDERS_0: 42}).all()

    assert delete(coordinator, "billing") is None
    assert isinstance(delete(coordinator, "billing"), GroupIdNotFoundError)


def test_a_living_group_is_not_deleted(coordinator: CoordinatorInProcess) -> None:
    join_classic(coordinator, ["orders"])

    assert isinstance(delete(coordinator, "billing"), NonEmptyGroupError)


REFUSED = {"errorCode": 42, "errorMessage": "unknown field"}


def test_an_event_that_could_not_be_read_is_an_error_everywhere() -> None:
    assert isinstance(descriptions.description("g", REFUSED).error, InvalidRequestError)
    assert isinstance(descriptions.deletion_error(REFUSED), InvalidRequestError)


ORDERS = "b3JkZXJzb3JkZXJzb3JkZQ"
BOTH = (ORDERS_0, ORDERS_1)


def ask(coordinator: CoordinatorInProcess, group: str) -> GroupDescription | None:
    answer = coordinator.send(describe_consumer_group(group)).result()
    return consumer_description(group, answer)


def joined(coordinator: CoordinatorInProcess) -> GroupMember:
    coordinator.tell_topics("billing", {"orders": (ORDERS, 2)})
    member = new_member(coordinator, "a", group_instance_id="till-1")
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
    coordinator.send(commit_offsets(MemberIdentity("simple"), {ORDERS_0: 1}))

    assert ask(coordinator, "simple") is None
    assert ask(coordinator, "unknown") is None


def test_a_coordinator_without_consumer_groups() -> None:
    assert consumer_description("billing", {"errorCode": 35}) is None


def test_a_group_that_cannot_be_described() -> None:
    described = ask(CoordinatorInProcess(), "")

    assert described is not None
    assert described.state == "Dead"
    assert isinstance(described.error, InvalidGroupIdError)
