from __future__ import annotations

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin import messages
from group_coordinator.clients.admin.descriptions import GroupDescription
from group_coordinator.clients.results import PartitionResults
from group_coordinator.clients.channel_errors import NotAConsumerGroupError
from group_coordinator.clients.errors import (
    CoordinatorResponseError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    InvalidGroupIdError,
    InvalidRequestError,
    NonEmptyGroupError,
    OffsetMetadataTooLargeError,
    UnknownError,
    UnknownMemberIdError,
)
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberOptions
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS_0 = TopicPartition("orders", 0)
ORDERS_1 = TopicPartition("orders", 1)
REFUNDS_0 = TopicPartition("refunds", 0)


@pytest.fixture
def coordinator() -> CoordinatorInProcess:
    return CoordinatorInProcess()


def commit(coordinator: CoordinatorInProcess, offsets: messages.Offsets) -> PartitionResults:
    request = messages.commit_offsets("billing", offsets, messages.ADMINISTRATOR)
    return messages.partition_results(coordinator.send(request).result(), offsets)


def fetch(
    coordinator: CoordinatorInProcess, *partitions: TopicPartition
) -> dict[TopicPartition, OffsetAndMetadata]:
    request = messages.fetch_offsets("billing", partitions or None)
    return messages.fetched_offsets(coordinator.send(request).result())


def delete_offsets(
    coordinator: CoordinatorInProcess, group: str, *partitions: TopicPartition
) -> PartitionResults:
    request = messages.delete_offsets(group, partitions)
    return messages.partition_results(coordinator.send(request).result(), partitions)


def describe(coordinator: CoordinatorInProcess, group: str) -> GroupDescription:
    return messages.description(group, coordinator.send(messages.describe_group(group)).result())


def delete(coordinator: CoordinatorInProcess, group: str) -> CoordinatorResponseError | None:
    return messages.deletion_error(coordinator.send(messages.delete_group(group)).result())


def join(coordinator: CoordinatorInProcess, topics: list[str]) -> GroupMember:
    member = GroupMember(
        coordinator,
        "billing",
        topics,
        {"orders": 2, "refunds": 1},
        options=MemberOptions(client_id="a"),
        clock=coordinator.clock,
    )
    for _ in range(4):
        member.poll()
        coordinator.sleep(3_000)
    return member


def test_offsets_are_committed_and_found(coordinator: CoordinatorInProcess) -> None:
    commit(coordinator, {ORDERS_0: 42, REFUNDS_0: OffsetAndMetadata(7, "note", 3)}).all()

    assert fetch(coordinator) == {
        ORDERS_0: OffsetAndMetadata(42, "", -1),
        REFUNDS_0: OffsetAndMetadata(7, "note", 3),
    }


def test_a_partition_without_an_offset_is_left_out(coordinator: CoordinatorInProcess) -> None:
    commit(coordinator, {ORDERS_0: 42}).all()

    assert fetch(coordinator, ORDERS_0, ORDERS_1) == {ORDERS_0: OffsetAndMetadata(42, "", -1)}


def test_one_partition_can_be_refused(coordinator: CoordinatorInProcess) -> None:
    results = commit(coordinator, {ORDERS_0: OffsetAndMetadata(1, "x" * 5_000, -1), ORDERS_1: 2})

    results.partition_result(ORDERS_1)
    with pytest.raises(OffsetMetadataTooLargeError):
        results.partition_result(ORDERS_0)


def test_an_administrator_cannot_commit_for_a_living_group(
    coordinator: CoordinatorInProcess,
) -> None:
    join(coordinator, ["orders"])

    with pytest.raises(UnknownMemberIdError):
        commit(coordinator, {ORDERS_0: 42}).all()


def test_offsets_are_deleted_partition_by_partition(coordinator: CoordinatorInProcess) -> None:
    member = join(coordinator, ["orders"])
    member.commit({ORDERS_0: 42, REFUNDS_0: 7})

    results = delete_offsets(coordinator, "billing", ORDERS_0, REFUNDS_0)

    results.partition_result(REFUNDS_0)
    with pytest.raises(GroupSubscribedToTopicError):
        results.partition_result(ORDERS_0)
    assert fetch(coordinator) == {ORDERS_0: OffsetAndMetadata(42, "", -1)}


@pytest.mark.parametrize(
    ("group", "error"), [("unknown", GroupIdNotFoundError), ("", InvalidGroupIdError)]
)
def test_deleting_offsets_of_no_group(
    coordinator: CoordinatorInProcess, group: str, error: type[Exception]
) -> None:
    results = delete_offsets(coordinator, group, ORDERS_0)

    assert isinstance(results.group_error, error)
    with pytest.raises(error):
        results.partition_result(ORDERS_0)


def test_a_stable_group(coordinator: CoordinatorInProcess) -> None:
    member = join(coordinator, ["orders", "refunds"])

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

    group = messages.description("connect", body)

    assert isinstance(group.error, NotAConsumerGroupError)
    assert group.members == ()
    assert str(group.error) == "GroupId connect is not a consumer group (connect)."


def test_groups_are_deleted(coordinator: CoordinatorInProcess) -> None:
    commit(coordinator, {ORDERS_0: 42}).all()

    assert delete(coordinator, "billing") is None
    assert isinstance(delete(coordinator, "billing"), GroupIdNotFoundError)


def test_a_living_group_is_not_deleted(coordinator: CoordinatorInProcess) -> None:
    join(coordinator, ["orders"])

    assert isinstance(delete(coordinator, "billing"), NonEmptyGroupError)


REFUSED = {"errorCode": 42, "errorMessage": "unknown field"}


def test_an_event_that_could_not_be_read_is_an_error_everywhere() -> None:
    assert isinstance(messages.description("g", REFUSED).error, InvalidRequestError)
    assert isinstance(messages.deletion_error(REFUSED), InvalidRequestError)
    assert isinstance(
        messages.partition_results(REFUSED, [ORDERS_0]).group_error, InvalidRequestError
    )
    with pytest.raises(InvalidRequestError, match="unknown field"):
        messages.fetched_offsets(REFUSED)


def test_a_partition_that_the_answer_forgets_did_not_go_well() -> None:
    results = messages.partition_results({"topics": []}, [ORDERS_0])

    with pytest.raises(UnknownError, match="does not mention"):
        results.partition_result(ORDERS_0)
