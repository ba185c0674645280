from __future__ import annotations

import kafka.errors
import pytest
from kafka import TopicPartition

from group_coordinator.clients.channel import PendingReply, Request, TimedReplies
from group_coordinator.clients.errors import (
    ChannelClosedError,
    CoordinatorResponseError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    NonEmptyGroupError,
    RequestTimedOutError,
    UnknownError,
    error_for,
)
from group_coordinator.clients.results import GroupResults, PartitionResults
from group_coordinator.core.model.errors import ErrorCode

ORDERS = TopicPartition("orders", 0)
REFUNDS = TopicPartition("refunds", 0)


def test_each_group_has_its_own_outcome() -> None:
    results = GroupResults({"gone": None, "busy": NonEmptyGroupError()})

    results["gone"]
    with pytest.raises(NonEmptyGroupError):
        results["busy"]
    assert list(results) == ["gone", "busy"]


def test_all_raises_the_first_error_if_there_is_one() -> None:
    results = GroupResults({"a": None, "b": NonEmptyGroupError(), "c": GroupIdNotFoundError()})

    with pytest.raises(NonEmptyGroupError):
        results.all()
    GroupResults({"a": None, "b": None}).all()


def test_a_group_that_was_not_asked_for_has_no_outcome() -> None:
    with pytest.raises(KeyError):
        GroupResults({})["a"]


def test_each_partition_has_its_own_outcome() -> None:
    results = PartitionResults({ORDERS: GroupSubscribedToTopicError(), REFUNDS: None})

    results.partition_result(REFUNDS)
    with pytest.raises(GroupSubscribedToTopicError):
        results.partition_result(ORDERS)
    with pytest.raises(GroupSubscribedToTopicError):
        results.all()


def test_an_error_of_the_group_is_every_partitions_error() -> None:
    results = PartitionResults({ORDERS: None, REFUNDS: None}, GroupIdNotFoundError())

    with pytest.raises(GroupIdNotFoundError):
        results.partition_result(REFUNDS)
    with pytest.raises(GroupIdNotFoundError):
        PartitionResults({}, GroupIdNotFoundError()).all()


CODES = [code for code in ErrorCode if code is not ErrorCode.NONE]
KNOWN_TO_KAFKA_PYTHON = [
    code for code in CODES if kafka.errors.for_code(code).__name__ in vars(kafka.errors)
]


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_every_error_has_a_class(code: ErrorCode) -> None:
    assert error_for(code).code == code


@pytest.mark.parametrize("code", KNOWN_TO_KAFKA_PYTHON, ids=lambda code: code.name)
def test_classes_are_named_as_in_kafka_python(code: ErrorCode) -> None:
    assert type(error_for(code)).__name__ == kafka.errors.for_code(code).__name__


def test_an_error_carries_number_name_and_message() -> None:
    error = error_for(86)

    assert isinstance(error, GroupSubscribedToTopicError)
    assert error.code == 86
    assert error.code_name == "GROUP_SUBSCRIBED_TO_TOPIC"
    assert str(error) == (
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it."
    )


def test_the_coordinators_own_message_wins() -> None:
    error = error_for(69, "Group g not found.")

    assert isinstance(error, GroupIdNotFoundError)
    assert str(error) == "Group g not found."


def test_an_error_reads_as_in_kafkas_tools() -> None:
    assert NonEmptyGroupError().kafka_text == (
        "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty."
    )


def test_a_number_from_the_future_is_kept() -> None:
    error = error_for(999)

    assert isinstance(error, UnknownError)
    assert (error.code, error.code_name) == (999, "error 999")
    assert CoordinatorResponseError.by_code[-1] is UnknownError
    assert UnknownError.code == -1


HEARTBEAT = Request("Heartbeat", 4, "billing", {})


@pytest.fixture
def pending() -> TimedReplies:
    return TimedReplies("c")


def test_a_late_request_fails_and_names_everything(pending: TimedReplies) -> None:
    reply = PendingReply(HEARTBEAT, timeout_s=1.5, now_s=100)
    pending.put(reply)

    pending.expire(now_s=101.4)
    assert not reply.done()
    pending.expire(now_s=101.5)

    with pytest.raises(RequestTimedOutError) as caught:
        reply.result(timeout=0)
    assert str(caught.value) == (
        "no response to Heartbeat v4 for group 'billing' (correlation id c-1) in 1.5 s: check that the job "
        "runs (`group-coordinator run`) and is not older than this client"
    )


def test_when_the_channel_closes_all_fail_and_nobody_may_ask(pending: TimedReplies) -> None:
    reply = PendingReply(HEARTBEAT, timeout_s=30, now_s=0)
    pending.put(reply)

    pending.fail_all(ChannelClosedError("closed"))

    assert isinstance(reply.exception(timeout=0), ChannelClosedError)
    with pytest.raises(ChannelClosedError):
        pending.put(PendingReply(HEARTBEAT, timeout_s=30, now_s=0))


def test_a_cancelled_request_is_let_go(pending: TimedReplies) -> None:
    reply = PendingReply(HEARTBEAT, timeout_s=1, now_s=0)
    pending.put(reply)
    reply.cancel()

    pending.answer("c-1", {"errorCode": 0})

    assert reply.cancelled()
