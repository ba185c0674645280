"""How long join and sync phases last, and who is out when they end."""

from __future__ import annotations

from itertools import islice

import pytest

from group_coordinator.core import coordinator
from group_coordinator.core.model.records import Reason
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import (
    EMPTY,
    PREPARING,
    STABLE,
    became_empty,
    membership_of,
    state_of,
)
from tests.unit.core.test_coordinator import context


@pytest.mark.parametrize("rebalance_timeout_ms", [0, -1, 1])
def test_a_join_phase_without_time_begins_again_only_now_and_then(
    rebalance_timeout_ms: int,
) -> None:
    driver = GroupDriver()
    joins = [
        driver.join(version=3),
        driver.join(instance_id="i", rebalance_timeout_ms=rebalance_timeout_ms),
    ]
    driver.at(6_000)
    leader, static = [driver.response_to(join).member_id for join in joins]
    driver.sync(static, 1)
    driver.sync(leader, 1)
    coordinator.handle(driver.group, requests.leave((leader, None)), context(6_000), driver.config)
    steps = coordinator.advance(driver.group, 16_000, driver.config)

    assert len(list(islice(steps, 100))) < 100
    assert state_of(driver) is EMPTY


@pytest.mark.parametrize("rebalance_timeout_ms", [0, -1])
def test_who_comes_when_there_is_no_time_goes_on_without_the_others(
    rebalance_timeout_ms: int,
) -> None:
    """Kafka looks at the group again and again, so it sees at once who has come."""
    driver = GroupDriver()
    joins = [
        driver.join(version=3),
        driver.join(instance_id="i", rebalance_timeout_ms=rebalance_timeout_ms),
        driver.join(instance_id="j", rebalance_timeout_ms=rebalance_timeout_ms),
    ]
    driver.at(6_000)
    leader, *statics = [driver.response_to(join).member_id for join in joins]
    for member_id in (*statics, leader):
        driver.sync(member_id, 1)
    driver.leave(leader)
    driver.sleep(500)
    assert state_of(driver) is PREPARING

    join = driver.join(statics[0], instance_id="i", rebalance_timeout_ms=5_000)

    assert join.response.generation == 2
    assert list(membership_of(driver).members) == statics


def test_a_sync_that_a_replaced_static_member_owed_is_still_owed() -> None:
    driver = GroupDriver()
    joins = [
        driver.join(version=3, rebalance_timeout_ms=8_000),
        driver.join(instance_id="i", rebalance_timeout_ms=8_000),
    ]
    driver.at(6_000)
    driver.sync(driver.response_to(joins[0]).member_id, 1)
    back = driver.join(instance_id="i").response.member_id
    driver.send(requests.sync(back, 1, instance_id="i"), 5)

    driver.at(13_999)
    assert state_of(driver) is STABLE
    driver.at(14_000)
    assert state_of(driver) is PREPARING, "as Kafka does"


def test_when_nobody_syncs_the_group_is_empty() -> None:
    driver = GroupDriver()
    driver.join(version=3, rebalance_timeout_ms=8_000)
    driver.at(3_000)

    assert driver.at(10_999).records == ()
    assert driver.at(11_000).records == (became_empty(11_000, 2, Reason.REBALANCE_TIMEOUT),)


def test_when_all_leave_during_the_initial_delay_the_group_is_empty_after_it() -> None:
    driver = GroupDriver()
    driver.join(instance_id="i")
    driver.leave(instance_id="i")

    assert driver.at(2_999).records == ()
    assert driver.at(3_000).records == (became_empty(3_000, 1, Reason.REBALANCE_TIMEOUT),)
