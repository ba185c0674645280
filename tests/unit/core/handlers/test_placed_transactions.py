"""Commits and markers that say where they are in the brokers' log: what a marker ends, whatever the order of the events."""

from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import EndTxn
from group_coordinator.core.offsets.pending import (
    REMEMBERED_MS,
    REMEMBERED_PRODUCERS,
    awaited_markers,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core import groups_in_every_state, requests

FINE, LATE = ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE
FENCED = ErrorCode.INVALID_PRODUCER_EPOCH


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
    entry = requests.at_offset(offset, partition)
    request = requests.txn_commit(
        entry, producer_id=producer, producer_epoch=epoch, markers_end_offset=since
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
    marker = EndTxn(
        group_id="g",
        producer_id=producer,
        is_commit=commits,
        producer_epoch=epoch,
        marker_offset=at,
        since_offset=since,
    )
    ended = driver.send(marker, 0).records
    return {partition: offset.offset for each in ended for _, partition, offset in each.offsets}


def committed(driver: GroupDriver) -> dict[int, int]:
    return {p: offset.offset for p, offset in driver.group.offsets.get("orders", {}).items()}


SCENES = {
    "the next transaction's commit may come before the marker": (
        [{"offset": 10, "since": 5}, {"offset": 20, "since": 7}],
        [({"at": 6}, {0: 10}), ({"at": 9, "commits": False}, {})],
        {0: 10},
    ),
    "an aborted one takes nothing with it": (
        [{"offset": 10, "since": 5}, {"offset": 20, "since": 7}],
        [({"at": 6, "commits": False}, {}), ({"at": 9}, {0: 20})],
        {0: 20},
    ),
    "an earlier transaction whose marker is named later replaces nothing": (
        [{"offset": 10, "since": 5}, {"offset": 20, "since": 7}],
        [({"at": 9, "since": 7}, {0: 20}), ({"at": 6, "since": 5}, {})],
        {0: 20},
    ),
    "of one transaction the latest commit counts": (
        [{"offset": 10, "since": 5}, {"offset": 11, "since": 8}, {"offset": 12, "since": 8}],
        [({"at": 9}, {0: 12})],
        {0: 12},
    ),
    "an earlier transaction does not outdo the next one whose commit came first": (
        [{"offset": 20, "since": 7}, {"offset": 10, "since": 5}],
        [({"at": 6}, {0: 10}), ({"at": 9}, {0: 20})],
        {0: 20},
    ),
    "of two producers the later commit stays": (
        [{"offset": 10, "since": 5, "producer": 1}, {"offset": 20, "since": 5, "producer": 2}],
        [({"at": 6, "producer": 2}, {0: 20}), ({"at": 7, "producer": 1}, {})],
        {0: 20},
    ),
    # It woke up after its transaction had timed out, and its successor commits one of its own.
    "what a fenced producer left behind does not count": (
        [
            *({"offset": 10 + p, "since": 7, "epoch": 0, "partition": p} for p in (0, 1)),
            {"offset": 20, "since": 8, "epoch": 2},
        ],
        [({"at": 9, "epoch": 2}, {0: 20})],
        {0: 20},
    ),
    "a marker by hand asks for no epoch": (
        [{"offset": 10, "since": 7, "epoch": 2}],
        [({"at": None, "epoch": 0}, {0: 10})],
        {0: 10},
    ),
}
"""Commits, then markers with what each commits, then what is committed in the end. Nothing is pending then."""


@pytest.mark.parametrize(("commits", "marks", "in_the_end"), SCENES.values(), ids=SCENES)
def test_a_marker_ends_its_own_transaction(
    commits: list[dict[str, Any]],
    marks: list[tuple[dict[str, Any], dict[int, int]]],
    in_the_end: dict[int, int],
) -> None:
    driver = GroupDriver()
    for each in commits:
        commit(driver, **each)

    for marker, expected in marks:
        assert mark(driver, **marker) == expected

    assert committed(driver) == in_the_end
    assert driver.group.pending == {}


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


def test_a_marker_told_twice_ends_nothing_more() -> None:
    driver = GroupDriver()
    commit(driver, 10, since=5)
    mark(driver, 6)
    driver.commit({"orders": {0: 11}})
    commit(driver, 20, since=7)

    again = EndTxn(group_id="g", producer_id=17, is_commit=True, marker_offset=6)
    assert driver.send(again, 0).records == ()
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


def test_a_late_commit_is_refused_before_its_member_is_looked_at() -> None:
    driver, _ = groups_in_every_state.stable_group()
    commit(driver, 10, since=5)
    mark(driver, 6)
    late = requests.txn_commit(
        generation=9, member_id="nobody", producer_epoch=0, markers_end_offset=6
    )

    outcome = driver.send(late, 3)

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
