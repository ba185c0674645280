"""The initial delay (KIP-134): a new group waits for more members."""

from __future__ import annotations

from group_coordinator.core.model.records import Reason
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import became_empty


def test_the_first_member_waits_for_the_initial_delay() -> None:
    driver = GroupDriver()
    join = driver.join(version=3)

    driver.at(2_999)
    assert join.correlation_id not in driver.responses
    driver.at(3_000)
    assert driver.response_to(join).generation == 1


def test_newcomers_extend_the_initial_delay() -> None:
    driver = GroupDriver(start_ms=1_000_000)
    first = driver.join(version=3)
    for time_ms in (1_002_000, 1_004_000, 1_006_000):
        driver.at(time_ms)
        driver.join(version=3)

    driver.at(1_011_999)
    assert first.correlation_id not in driver.responses
    driver.at(1_012_000)
    assert len(driver.response_to(first).members) == 4


def test_the_first_members_rebalance_timeout_caps_the_initial_delay() -> None:
    driver = GroupDriver()
    first = driver.join(rebalance_timeout_ms=5_000, version=3)
    for time_ms in (2_000, 4_000):
        driver.at(time_ms)
        driver.join(version=3)

    driver.at(4_999)
    assert first.correlation_id not in driver.responses
    driver.at(5_000)
    assert len(driver.response_to(first).members) == 3


def test_without_an_initial_delay_the_first_is_answered_at_once() -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=0)

    assert driver.join(version=3).response.generation == 1


def test_when_all_leave_during_the_initial_delay_the_group_is_empty_after_it() -> None:
    driver = GroupDriver()
    driver.join(instance_id="i")
    driver.leave(instance_id="i")

    assert driver.at(2_999).records == ()
    assert driver.at(3_000).records == (became_empty(3_000, 1, Reason.REBALANCE_TIMEOUT),)
