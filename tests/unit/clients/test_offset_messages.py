from __future__ import annotations

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients import offset_messages
from group_coordinator.clients.errors import (
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    InvalidGroupIdError,
    InvalidRequestError,
    OffsetMetadataTooLargeError,
    UnknownError,
    UnknownMemberIdError,
)
from group_coordinator.clients.results import PartitionResults
from tests.unit.clients.billing import commit, join_classic
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS_0 = TopicPartition("orders", 0)
ORDERS_1 = TopicPartition("orders", 1)
REFUNDS_0 = TopicPartition("refunds", 0)


def fetch(
    coordinator: CoordinatorInProcess, *partitions: TopicPartition
) -> dict[TopicPartition, OffsetAndMetadata]:
    request = offset_messages.fetch_offsets("billing", partitions or None)
    return offset_messages.fetched_offsets(coordinator.send(request).result())


def delete_offsets(
    coordinator: CoordinatorInProcess, group: str, *partitions: TopicPartition
) -> PartitionResults:
    request = offset_messages.delete_offsets(group, partitions)
    return offset_messages.partition_results(coordinator.send(request).result(), partitions)


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


def test_administrators_cannot_commit_for_a_living_one(coordinator: CoordinatorInProcess) -> None:
    join_classic(coordinator, ["orders"])

    with pytest.raises(UnknownMemberIdError):
        commit(coordinator, {ORDERS_0: 42}).all()


def test_offsets_are_deleted_partition_by_partition(coordinator: CoordinatorInProcess) -> None:
    member = join_classic(coordinator, ["orders"])
    member.commit({ORDERS_0: 42, REFUNDS_0: 7})

    results = delete_offsets(coordinator, "billing", ORDERS_0, REFUNDS_0)

    results.partition_result(REFUNDS_0)
    with pytest.raises(GroupSubscribedToTopicError):
        results.partition_result(ORDERS_0)
    assert fetch(coordinator) == {ORDERS_0: OffsetAndMetadata(42, "", -1)}


@pytest.mark.parametrize(
    ("group", "error"), [("unknown", GroupIdNotFoundError), ("", InvalidGroupIdError)]
)
def test_offsets_of_none(
    coordinator: CoordinatorInProcess, group: str, error: type[Exception]
) -> None:
    results = delete_offsets(coordinator, group, ORDERS_0)

    assert isinstance(results.group_error, error)
    with pytest.raises(error):
        results.partition_result(ORDERS_0)


REFUSED = {"errorCode": 42, "errorMessage": "unknown field"}


def test_an_event_that_could_not_be_read_is_an_error_everywhere() -> None:
    assert isinstance(
        offset_messages.partition_results(REFUSED, [ORDERS_0]).group_error, InvalidRequestError
    )
    with pytest.raises(InvalidRequestError, match="unknown field"):
        offset_messages.fetched_offsets(REFUSED)


def test_a_partition_that_the_answer_forgets_did_not_go_well() -> None:
    results = offset_messages.partition_results({"topics": []}, [ORDERS_0])

    with pytest.raises(UnknownError, match="does not mention"):
        results.partition_result(ORDERS_0)
