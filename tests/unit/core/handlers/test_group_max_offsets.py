"""group.max.offsets: what a group holds may be updated, new partitions come in up to the limit."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import EndTxn, OffsetDelete, TopicPartitions
from group_coordinator.core.model.responses import TopicResult
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.requests import at_offset

NONE, TOO_MANY = ErrorCode.NONE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE


Results = list[tuple[int, ErrorCode]]


def results_of(topic: TopicResult) -> Results:
    return [(result.partition, result.error) for result in topic.partitions]


def commit(driver: GroupDriver, *partitions: int) -> Results:
    entries = (at_offset(1, partition) for partition in partitions)
    (topic,) = driver.send(requests.commit(*entries), 8).response.topics
    return results_of(topic)


def pend(driver: GroupDriver, *partitions: int, producer: int = 17) -> Results:
    entries = (at_offset(2, partition) for partition in partitions)
    request = requests.txn_commit(*entries, producer_id=producer)
    (topic,) = driver.send(request, 3).response.topics
    return results_of(topic)


@pytest.mark.parametrize(("held", "error"), [(0, NONE), (1, NONE), (2, NONE), (3, TOO_MANY)])
def test_a_new_partition_comes_in_below_the_limit(held: int, error: ErrorCode) -> None:
    driver = GroupDriver(group_max_offsets=3)
    if held:
        commit(driver, *range(held))

    assert commit(driver, 9) == [(9, error)]
    assert (9 in driver.group.offsets["orders"]) is (error is NONE)


def test_of_one_commit_the_first_new_partitions_come_in() -> None:
    driver = GroupDriver(group_max_offsets=3)
    commit(driver, 0)

    results = commit(driver, 4, 0, 3, 2, 4, 1)

    assert results == [(4, NONE), (0, NONE), (3, NONE), (2, TOO_MANY), (4, NONE), (1, TOO_MANY)]
    assert sorted(driver.group.offsets["orders"]) == [0, 3, 4]


def test_the_topics_of_a_group_count_together() -> None:
    driver = GroupDriver(group_max_offsets=2)
    driver.commit({"orders": {0: 1}, "refunds": {0: 1}})

    outcome = driver.commit({"orders": {0: 2}, "refunds": {0: 2, 1: 2}, "sales": {0: 2}})

    assert [results_of(topic) for topic in outcome.response.topics] == [
        [(0, NONE)],
        [(0, NONE), (1, TOO_MANY)],
        [(0, TOO_MANY)],
    ]


def test_metadata_that_is_too_long_takes_no_room() -> None:
    driver = GroupDriver(group_max_offsets=1, offset_metadata_max_bytes=4)
    entries = (at_offset(1, 0, metadata="12345"), at_offset(1, 1))

    (topic,) = driver.send(requests.commit(*entries), 8).response.topics

    assert results_of(topic) == [(0, ErrorCode.OFFSET_METADATA_TOO_LARGE), (1, NONE)]


def test_room_that_becomes_free_is_given_again() -> None:
    driver = GroupDriver(group_max_offsets=2)
    commit(driver, 0, 1)
    driver.send(OffsetDelete("g", (TopicPartitions("orders", None, (0,)),)), 0)

    assert commit(driver, 2, 3) == [(2, NONE), (3, TOO_MANY)]


def test_offsets_of_transactions_count_once_a_partition() -> None:
    driver = GroupDriver(group_max_offsets=3)
    commit(driver, 0)

    assert pend(driver, 0, 1) == [(0, NONE), (1, NONE)]
    assert pend(driver, 1, 2, 3, producer=18) == [(1, NONE), (2, NONE), (3, TOO_MANY)]
    assert commit(driver, 2, 3) == [(2, NONE), (3, TOO_MANY)]
    driver.send(EndTxn(group_id="g", producer_id=18, is_commit=False), 0)
    driver.send(EndTxn(group_id="g", producer_id=17, is_commit=True), 0)
    assert commit(driver, 3) == [(3, TOO_MANY)]
    assert sorted(driver.group.offsets["orders"]) == [0, 1, 2]


def test_a_refused_transaction_leaves_room() -> None:
    driver = GroupDriver(group_max_offsets=1)
    pend(driver, 0)
    driver.send(EndTxn(group_id="g", producer_id=17, is_commit=False), 0)

    assert commit(driver, 1) == [(1, NONE)]
