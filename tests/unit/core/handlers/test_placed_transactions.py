"""Commits and markers that say where they are in the brokers' log: what a marker ends, whatever the order of the events."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import EndTxn, TxnOffsetCommit
from group_coordinator.core.offsets.pending import (
    REMEMBERED_MS,
    REMEMBERED_PRODUCERS,
    awaited_markers,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core import groups_in_every_state, requests

FINE, LATE, FENCED = (
    ErrorCode.NONE,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.INVALID_PRODUCER_EPOCH,
)


def commit(
    driver: GroupDriver,
    offset: int,
    *,
    since: int | None,
    producer: int = 17,
    epoch: int = 0,
    partition: int = 0,
) -> ErrorCode:
    """TxnOffsetCommit; its error."""
    topics = requests.commit(requests.at_offset(offset, partition)).topics
    request = TxnOffsetCommit(
        group_id="g",
        producer_id=producer,
        generation=None,
        member_id="",
        group_instance_id=None,
        topics=topics,
        producer_epoch=epoch,
        markers_end_offset=since,
    )
    [result] = driver.send(request, 3).response.topics[0].partitions
    error: ErrorCode = result.error
    return error


def mark(
    driver: GroupDriver,
    at: int | None,
    *,
    commits: bool = True,
    producer: int = 17,
    epoch: int = 0,
    since: int | None = None,
) -> dict[int, int]:
    """EndTxn; what it committed, by partition."""
    markers = driver.send(
        EndTxn(
            group_id="g",
            producer_id=producer,
            is_commit=commits,
            producer_epoch=epoch,
            marker_offset=at,
            since_offset=since,
        ),
        0,
    ).records
    return {partition: offset.offset for each in markers for _, partition, offset in each.offsets}


def committed(driver: GroupDriver) -> dict[int, int]:
    return {p: offset.offset for p, offset in driver.group.offsets.get("orders", {}).items()}


def test_the_next_transactions_commit_may_come_before_the_marker() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    commit(driver, 20, since=7)

    assert mark(driver, 6) == {0: 10}
    assert committed(driver) == {0: 10}
    assert mark(driver, 9, commits=False) == {}
    assert committed(driver) == {0: 10}
    assert driver.group.pending == {}


def test_an_aborted_one_takes_nothing_with_it() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    commit(driver, 20, since=7)

    assert mark(driver, 6, commits=False) == {}
    assert mark(driver, 9) == {0: 20}


def test_a_commit_right_before_the_marker_is_its_own_and_one_right_behind_it_is_not() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=6)
    commit(driver, 20, since=7, partition=1)

    assert mark(driver, 6) == {0: 10}
    assert awaited_markers(driver.group) == {17: 7}


def test_what_may_have_had_a_marker_before_waits_on() -> None:
    """Its own marker, at 6, is told when somebody has looked for it."""
    driver = GroupDriver()
    commit(driver, 20, since=7)
    commit(driver, 10, since=5, partition=1)

    assert mark(driver, 9, since=7) == {0: 20}
    assert awaited_markers(driver.group) == {17: 5}
    assert mark(driver, 6, since=5, commits=False) == {}
    assert mark(driver, 9, since=7) == {}
    assert committed(driver) == {0: 20}
    assert driver.group.pending == {}


def test_an_earlier_transaction_whose_marker_is_told_later_replaces_nothing() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    commit(driver, 20, since=7)

    assert mark(driver, 9, since=7) == {0: 20}
    assert mark(driver, 6, since=5) == {}
    assert committed(driver) == {0: 20}


def test_of_one_transaction_the_latest_commit_counts() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    commit(driver, 11, since=8)
    commit(driver, 12, since=8)

    assert mark(driver, 9) == {0: 12}


def test_an_earlier_transaction_does_not_outdo_the_next_one_whose_commit_came_first() -> None:
    driver = GroupDriver()
    commit(driver, 20, since=7)
    commit(driver, 10, since=5)

    assert mark(driver, 6) == {0: 10}
    assert mark(driver, 9) == {0: 20}


def test_of_two_producers_the_later_commit_stays() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5, producer=1)
    commit(driver, 20, since=5, producer=2)

    assert mark(driver, 6, producer=2) == {0: 20}
    assert mark(driver, 7, producer=1) == {}
    assert committed(driver) == {0: 20}


def test_a_marker_told_twice_ends_nothing_more() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    mark(driver, 6)
    driver.commit({"orders": {0: 11}})
    commit(driver, 20, since=7)

    assert (
        driver.send(
            EndTxn(group_id="g", producer_id=17, is_commit=True, marker_offset=6), 0
        ).records
        == ()
    )
    assert committed(driver) == {0: 11}
    assert mark(driver, 8) == {0: 20}


@pytest.mark.parametrize(("since", "error"), [(5, LATE), (6, LATE), (7, FINE), (None, FINE)])
def test_a_commit_that_comes_after_its_marker_is_late(since: int | None, error: ErrorCode) -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    mark(driver, 6, commits=False)

    assert commit(driver, 11, since=since) is error
    assert (("orders", 0) in driver.group.pending) is (error is FINE)


def test_an_earlier_marker_told_again_does_not_let_a_late_commit_in() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    mark(driver, 9)
    mark(driver, 6)

    assert commit(driver, 11, since=8) is LATE


def test_a_fenced_producer_does_not_commit_into_its_successors_transaction() -> None:
    """The marker of a fencing, or of a timeout, has the next epoch."""
    driver = GroupDriver()
    commit(driver, 10, since=5)
    mark(driver, 6, commits=False, epoch=1)

    assert commit(driver, 11, since=7, epoch=0) is FENCED
    assert commit(driver, 12, since=7, epoch=1) is FINE


def test_what_a_fenced_producer_left_behind_does_not_count() -> None:
    """It woke up after its transaction had timed out, and its successor commits one of its own."""
    driver = GroupDriver()
    commit(driver, 10, since=7, epoch=0)
    commit(driver, 11, since=7, epoch=0, partition=1)
    commit(driver, 20, since=8, epoch=2)

    assert mark(driver, 9, epoch=2) == {0: 20}
    assert committed(driver) == {0: 20}
    assert driver.group.pending == {}


def test_a_marker_by_hand_asks_for_no_epoch() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=7, epoch=2)

    assert mark(driver, None, epoch=0) == {0: 10}


def test_a_late_commit_is_refused_before_its_member_is_looked_at() -> None:
    driver, _ = groups_in_every_state.stable_group()
    commit(driver, 10, since=5)
    mark(driver, 6)
    topics = requests.commit(requests.at_offset(1)).topics

    outcome = driver.send(
        TxnOffsetCommit(
            group_id="g",
            producer_id=17,
            generation=9,
            member_id="nobody",
            group_instance_id=None,
            topics=topics,
            producer_epoch=0,
            markers_end_offset=6,
        ),
        3,
    )

    assert outcome.response.topics[0].partitions[0].error is LATE


def test_a_marker_is_remembered_for_as_long_as_a_commit_may_be_on_its_way() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    mark(driver, 6)
    driver.sleep(REMEMBERED_MS)
    assert commit(driver, 11, since=6) is LATE
    driver.sleep(1)
    assert commit(driver, 11, since=6) is FINE

    mark(driver, 7, producer=18)
    assert driver.group.last_markers.keys() == {18}


def test_so_many_producers_are_remembered() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    for producer in range(REMEMBERED_PRODUCERS):
        mark(driver, 2 * producer, producer=producer)
    mark(driver, 5_000, producer=0)
    mark(driver, 5_001, producer=REMEMBERED_PRODUCERS)

    assert len(driver.group.last_markers) == REMEMBERED_PRODUCERS
    assert commit(driver, 1, since=0, producer=0) is LATE
    assert commit(driver, 1, since=0, producer=1) is FINE


def test_a_group_that_does_not_exist_remembers_nothing() -> None:
    driver = GroupDriver()
    mark(driver, 6)
    assert driver.group.is_forgotten
    assert driver.group.last_markers == {}

    driver.commit({"orders": {0: 1}})
    mark(driver, 7)
    driver.delete()
    driver.commit({"orders": {0: 1}})
    assert commit(driver, 11, since=7) is FINE


def test_without_places_it_is_as_ever() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=None)
    commit(driver, 20, since=7, partition=1)
    commit(driver, 11, since=None)
    assert mark(driver, 6) == {0: 11}
    commit(driver, 30, since=None)

    assert mark(driver, None) == {0: 30, 1: 20}
    assert driver.group.pending == {}


def test_what_waits_holds_the_group_and_says_whom_it_waits_for() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    commit(driver, 10, since=9)
    commit(driver, 11, since=5, partition=1)
    commit(driver, 12, since=3, producer=4)
    commit(driver, 13, since=None, producer=5)

    assert awaited_markers(driver.group) == {4: 3, 17: 5}
    driver.at(600_000)
    assert driver.group.membership is not None
    driver.delete()
    assert awaited_markers(driver.group) == {}
    assert driver.group.is_forgotten
