from __future__ import annotations

import pytest
from msgspec import json

from group_coordinator.core.deadlines import Outage, Outages, due_after, noted
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.timers import Timer
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import two_members_sharing_orders

SESSION_MS = 10_000
AWAY_MS = 90_000


def working() -> tuple[GroupDriver, str]:
    """A Stable group of one whose member has just sent a heartbeat."""
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.sync(member_id, 1, {})
    driver.heartbeat(member_id, 1)
    return driver, member_id


def members(driver: GroupDriver) -> list[str]:
    membership = driver.group.membership
    return [] if membership is None else list(membership.members)


@pytest.mark.parametrize("silent_ms", [0, 1, SESSION_MS - 1])
def test_a_member_has_its_whole_session_again_after_an_outage(silent_ms: int) -> None:
    driver, member_id = working()
    driver.sleep(silent_ms)

    driver.outage(AWAY_MS)
    driver.sleep(SESSION_MS - 1)
    assert members(driver) == [member_id]
    driver.sleep(1)

    assert members(driver) == []


def test_a_member_that_comes_back_in_time_has_noticed_nothing() -> None:
    driver, member_id = working()

    driver.outage(AWAY_MS)
    answer = driver.heartbeat(member_id, 1).response
    driver.sleep(SESSION_MS - 1)

    assert (answer.error, members(driver)) == (ErrorCode.NONE, [member_id])
    driver.sleep(1)
    assert members(driver) == []


def test_a_session_that_ran_out_before_the_outage_is_over() -> None:
    driver, _ = working()
    outcome = driver.sleep(SESSION_MS)

    driver.outage(AWAY_MS)

    assert {record.reason for record in outcome.records} == {Reason.SESSION_TIMEOUT}
    assert members(driver) == []


def test_a_member_has_its_time_from_a_late_answer_on() -> None:
    driver, member_id = working()

    driver.slow_batch(AWAY_MS)
    driver.sleep(SESSION_MS - 1)
    assert members(driver) == [member_id]
    driver.sleep(1)

    assert members(driver) == []


def test_one_outage_after_the_other_puts_a_session_off_again() -> None:
    driver, member_id = working()
    driver.outage(AWAY_MS)
    driver.sleep(SESSION_MS - 1)

    driver.outage(AWAY_MS)
    driver.sleep(SESSION_MS - 1)

    assert members(driver) == [member_id]


def test_a_rebalance_waits_for_those_who_could_not_be_heard() -> None:
    driver, member_id = working()
    newcomer = driver.join(rebalance_timeout_ms=60_000).response.member_id
    driver.join(newcomer)

    driver.outage(AWAY_MS)
    driver.heartbeat(member_id, 1)

    assert driver.group.classic is not None
    assert driver.group.classic.state is ClassicState.PREPARING_REBALANCE
    assert set(members(driver)) == {member_id, newcomer}


def test_sessions_of_a_consumer_group_begin_anew_too() -> None:
    driver = two_members_sharing_orders()
    session_ms = driver.config.group_consumer_session_timeout_ms

    driver.outage(session_ms)
    driver.sleep(session_ms - 1)
    assert members(driver) == ["m1", "m2"]
    driver.sleep(1)

    assert members(driver) == []


def test_offsets_expire_by_the_clock() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=60_000)
    driver.commit({"orders": {0: 1}})

    outcome = driver.outage(120_000)

    assert [record.reason for record in outcome.records] == [
        Reason.OFFSET_EXPIRED,
        Reason.GROUP_EXPIRED,
    ]


@pytest.mark.parametrize(
    ("due_ms", "armed_ms", "if_nobody_was_heard", "if_answers_were_late"),
    [
        (100, 0, 100, 100),
        (101, 0, 301, 101),
        (1_000, 99, 1_101, 1_000),
        (150, 100, 250, 250),
        (250, 199, 251, 251),
        (250, 200, 250, 250),
    ],
    ids=["due before", "due in it", "armed before", "armed in it", "armed last", "armed after"],
)
def test_whom_an_outage_concerns(
    due_ms: int, armed_ms: int, if_nobody_was_heard: int, if_answers_were_late: int
) -> None:
    timer = Timer(due_ms, armed_ms)

    assert due_after(timer, (Outage(100, 200, was_heard=False),)) == if_nobody_was_heard
    assert due_after(timer, (Outage(100, 200, was_heard=True),)) == if_answers_were_late


def test_outages_may_overlap() -> None:
    """The batches stood still because Kafka was away, and for a while longer; then the next one was slow."""
    away, slow = Outage(100, 200, was_heard=False), Outage(90, 250, was_heard=True)
    next_slow = Outage(200, 270, was_heard=True)

    assert due_after(Timer(110, 50), (away, slow, next_slow)) == 260
    assert due_after(Timer(155, 95), (away, slow, next_slow)) == 310
    assert due_after(Timer(270, 210), (away, slow, next_slow)) == 330


@pytest.mark.parametrize(
    ("armed_ms", "due_ms", "expected_ms"),
    [(50, 99, 99), (50, 100, 100), (50, 101, 251), (49, 200, 200), (199, 199, 199)],
    ids=["over before", "over as it began", "asked since", "asked before", "at once, in it"],
)
def test_who_ran_out_of_time_before_answers_were_late_stays_so(
    armed_ms: int, due_ms: int, expected_ms: int
) -> None:
    late = Outage(100, 200, was_heard=True, asked_ms=50)

    assert due_after(Timer(due_ms, armed_ms), (late,)) == expected_ms


def test_a_backlog_has_one_outage_which_grows() -> None:
    known: Outages = (Outage(90, 100, was_heard=True, asked_ms=80),)
    for end_ms in (200, 300, 300):
        backlog = Outage(end_ms - 100, end_ms, was_heard=True, asked_ms=90)
        known = noted(known, backlog)

    assert known == (
        Outage(90, 100, was_heard=True, asked_ms=80),
        Outage(100, 300, was_heard=True, asked_ms=90),
    )
    assert noted(known, Outage(300, 300, was_heard=False)) == known


def test_outages_of_a_checkpoint_without_first_questions_are_read() -> None:
    assert json.decode(b"[[100,200,true]]", type=Outages) == (Outage(100, 200, was_heard=True),)


def test_who_falls_silent_while_every_answer_is_late_runs_out_of_time() -> None:
    """Each batch notes that its answers and those of the one before were late."""
    late = tuple(Outage(at, at + 20, was_heard=True) for at in range(0, 1_000, 10))

    assert due_after(Timer(armed_ms=105, due_ms=150), late) == 120 + 45


def test_a_member_of_a_slow_coordinator_lapses_once() -> None:
    driver, _ = working()
    for _ in range(20):
        driver.slow_batch(3_000)

    assert members(driver) == []
