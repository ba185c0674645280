from __future__ import annotations

from kafka import TopicPartition

from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.admin.descriptions import GroupDescription
from group_coordinator.clients.errors import (
    CoordinatorResponseError,
    GroupIdNotFoundError,
    InvalidRequestError,
    NonEmptyGroupError,
    NotAConsumerGroupError,
)
from tests.unit.clients.billing import commit, join_classic
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

    assert (group.state, group.protocol_type, group.partition_assignor, group.error) == (
        "Stable",
        "consumer",
        "range",
        None,
    )
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
    body = {
        "groups": [
            {
                "errorCode": 0,
                "errorMessage": None,
                "groupId": "connect",
                "groupState": "Stable",
                "protocolType": "connect",
                "protocolData": "compatible",
                "members": [{"memberId": "not looked at"}],
            }
        ]
    }

    group = descriptions.description("connect", body)

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
