"""Sessions and rebalance timeouts of consumer groups: inclusive to the millisecond (KIP-848)."""

from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.timers import TimerKey, TimerKind, session_timer
from group_coordinator.core.replay import begin_sessions
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import BIL, ORD, STABLE, UNREVOKED, cluster, current, kinds


def test_a_silent_member_is_removed_when_its_session_ends() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.at(40_000)
    driver.consumers.beat("m1")

    assert driver.at(84_999).records == ()
    ended = driver.at(85_000)

    gone = ["-Current", "-Target", "-Member"]
    assert kinds(ended.records) == [*gone, "+GroupEpoch", "+TargetEpoch"]
    assert {record.reason for record in ended.records} == {Reason.SESSION_TIMEOUT}


def revoking() -> GroupDriver:
    """m1 has 10,000 ms from 2,000 ms on to give something back."""
    driver = cluster()
    driver.consumers.join("m1", ["orders"], rebalance_timeout_ms=10_000)
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"])
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})
    assert current(driver, "m1").state is UNREVOKED
    return driver


def test_one_who_does_not_give_back_in_time_is_removed() -> None:
    driver = revoking()
    driver.at(11_999)
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})

    ended = driver.at(12_000)

    assert kinds(ended.records) == ["-Current", "-Target", "-Member", "+GroupEpoch"]
    assert {record.reason for record in ended.records} == {Reason.REBALANCE_TIMEOUT}


def test_a_loaded_group_begins_all_timers_anew() -> None:
    driver = revoking()
    driver.at(9_000)

    begin_sessions(driver.group, 9_000, driver.config)

    assert driver.group.consumer is not None
    assert {key: timer.due_ms for key, timer in driver.group.consumer.timers.items()} == {
        session_timer("m1"): 54_000,
        TimerKey(TimerKind.REBALANCE, "m1"): 19_000,
        session_timer("m2"): 54_000,
    }
    assert driver.at(18_999).records == ()
    assert {record.reason for record in driver.at(19_000).records} == {Reason.REBALANCE_TIMEOUT}


def test_one_who_gives_back_at_the_same_epoch_stays_too() -> None:
    """A subscription got narrower before its interval was over: the next target, and epoch, are yet to come."""
    driver = cluster()
    driver.consumers.join("m1", ["orders", "bills"], rebalance_timeout_ms=10_000)
    has = {ORD: [0, 1, 2]}
    driver.consumers.beat("m1", has | {BIL: [0]}, topic_names=("orders",))
    assert (current(driver, "m1").epoch, current(driver, "m1").state) == (2, UNREVOKED)
    driver.consumers.beat("m1", has)
    assert (current(driver, "m1").epoch, current(driver, "m1").state) == (2, STABLE)

    assert driver.at(11_000).records == ()


def test_names_of_all_members_that_no_task_can_hold_leave_no_room() -> None:
    driver = cluster()
    names = [f"{number}".rjust(1_000, "x") for number in range(1_000)]
    for number in range(16):
        assert driver.consumers.join(f"m{number}", names).response.error is ErrorCode.NONE

    assert driver.consumers.join("late", names).response.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert driver.consumers.join("usual", ["orders"]).response.error is ErrorCode.NONE
    grown = driver.consumers.beat("m0", topic_names=tuple(names) * 2).response
    assert grown.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert driver.consumers.beat("m0", topic_names=tuple(names)).response.error is ErrorCode.NONE
