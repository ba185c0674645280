from __future__ import annotations

import kafka.errors
import pytest

from group_coordinator.clients.errors import (
    CoordinatorResponseError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    NonEmptyGroupError,
    UnknownError,
    error_for,
)
from group_coordinator.core.model.errors import ErrorCode

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
