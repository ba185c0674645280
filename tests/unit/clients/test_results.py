from __future__ import annotations

import pytest
from kafka import TopicPartition

from group_coordinator.clients.errors import (
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    NonEmptyGroupError,
)
from group_coordinator.clients.results import GroupResults, PartitionResults

ORDERS = TopicPartition("orders", 0)
REFUNDS = TopicPartition("refunds", 0)


def test_each_group_has_its_own_outcome() -> None:
    results = GroupResults({"gone": None, "busy": NonEmptyGroupError()})

    results["gone"]
    with pytest.raises(NonEmptyGroupError):
        results["busy"]
    assert list(results) == ["gone", "busy"]


def test_all_raises_the_first_error() -> None:
    results = GroupResults({"a": None, "b": NonEmptyGroupError(), "c": GroupIdNotFoundError()})

    with pytest.raises(NonEmptyGroupError):
        results.all()


def test_all_returns_when_all_went_well() -> None:
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


def test_an_error_of_the_group_counts_without_partitions() -> None:
    with pytest.raises(GroupIdNotFoundError):
        PartitionResults({}, GroupIdNotFoundError()).all()
