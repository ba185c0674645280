"""How long join and sync phases last, and who is out when they end."""

from __future__ import annotations

from itertools import islice

import pytest

from group_coordinator.core import coordinator
from group_coordinator.core.model.classic_member import Ticket
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import RequestContext
from group_coordinator.core.model.responses import SyncGroupResponse
from group_coordinator.core.model.timers import JOIN_TIMER, SYNC_TIMER, session_timer
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


def test_who_does_not_join_within_the_longest_rebalance_timeout_is_out() -> None:
    driver = GroupDriver()
    joins = [driver.join(rebalance_timeout_ms=ms, version=3) for ms in (7_000, 8_000)]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    driver.sync(follower, 1)
    driver.sync(leader, 1)
    join = driver.join(leader, rebalance_timeout_ms=7_000)

    driver.at(13_999)
    assert join.correlation_id not in driver.responses
    driver.at(14_000)
    assert driver.response_to(join).generation == 2
    assert driver.heartbeat(follower, 1).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_static_members_that_do_not_join_keep_their_place() -> None:
    driver = GroupDriver()
    joins = [
        driver.join(version=3, rebalance_timeout_ms=7_000),
        driver.join(instance_id="i", rebalance_timeout_ms=7_000),
    ]
    driver.at(6_000)
    leader, static = [driver.response_to(join).member_id for join in joins]
    driver.sync(static, 1)
    driver.sync(leader, 1)

    join = driver.join(leader, rebalance_timeout_ms=7_000)
    driver.at(13_000)

    assert driver.response_to(join).generation == 2
    assert {member.member_id for member in driver.response_to(join).members} == {leader, static}


def test_a_static_leader_that_stays_away_keeps_its_place_but_leads_no_more() -> None:
    driver = GroupDriver()
    joins = [
        driver.join(instance_id="i", rebalance_timeout_ms=7_000),
        driver.join(version=3, rebalance_timeout_ms=7_000),
    ]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    assert driver.response_to(joins[0]).leader == leader
    driver.sync(follower, 1)
    driver.sync(leader, 1)

    join = driver.join(follower, topics=["refunds"], rebalance_timeout_ms=7_000)
    driver.at(13_000)

    assert driver.response_to(join).leader == follower
    assert leader in membership_of(driver).members


def test_when_only_static_members_are_left_and_none_comes_the_phase_begins_again() -> None:
    driver = GroupDriver()
    joins = [
        driver.join(instance_id=name, session_timeout_ms=40_000, rebalance_timeout_ms=15_000)
        for name in ("i", "j")
    ]
    driver.at(6_000)
    ids = [driver.response_to(join).member_id for join in joins]
    for member_id in reversed(ids):
        driver.sync(member_id, 1)
    newcomer = driver.join(version=3, rebalance_timeout_ms=15_000)
    driver.leave(newcomer_id(driver, ids))
    assert driver.response_to(newcomer).error is ErrorCode.UNKNOWN_MEMBER_ID

    driver.at(21_000)
    assert (state_of(driver), driver.next_deadline_ms) == (PREPARING, 36_000)
    driver.at(36_000)
    assert (state_of(driver), driver.next_deadline_ms) == (PREPARING, 46_000)
    assert driver.at(46_000).records == (became_empty(46_000, 2, Reason.SESSION_TIMEOUT),)


def newcomer_id(driver: GroupDriver, others: list[str]) -> str:
    (member_id,) = membership_of(driver).members.keys() - set(others)
    return member_id


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
    ticket = Ticket("topic-0-1", None, 5)
    context = RequestContext(
        now_ms=6_000,
        ticket=ticket,
        client_id="client",
        client_host="/127.0.0.1",
        fresh_id="0",
        fresh_short_id="0",
    )

    coordinator.handle(driver.group, requests.leave((leader, None)), context, driver.config)
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


def test_who_does_not_sync_in_time_is_out() -> None:
    driver = GroupDriver()
    joins = [driver.join(version=3, rebalance_timeout_ms=8_000) for _ in range(2)]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    sync = driver.sync(follower, 1)

    assert driver.at(13_999).responses == {}
    outcome = driver.at(14_000)

    assert outcome.responses == {
        sync.correlation_id: SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
    }
    assert outcome.records == ()
    assert state_of(driver) is PREPARING
    assert list(membership_of(driver).members) == [follower]
    assert driver.join(leader).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_follower_that_does_not_sync_in_time_is_out_of_a_stable_group() -> None:
    driver = GroupDriver()
    joins = [driver.join(version=3, rebalance_timeout_ms=8_000) for _ in range(2)]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    driver.sync(leader, 1)
    assert state_of(driver) is STABLE

    driver.at(13_999)
    assert state_of(driver) is STABLE
    driver.at(14_000)
    assert state_of(driver) is PREPARING
    assert driver.join(follower).response.error is ErrorCode.UNKNOWN_MEMBER_ID


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


def test_a_rebalance_takes_the_place_of_a_sync_phase() -> None:
    driver = GroupDriver()
    joins = [driver.join(version=3, rebalance_timeout_ms=8_000) for _ in range(2)]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    assert SYNC_TIMER in membership_of(driver).timers

    driver.leave(leader)

    assert set(membership_of(driver).timers) == {JOIN_TIMER, session_timer(follower)}
    assert membership_of(driver).pending_syncs == {}


def test_once_all_have_synced_nothing_is_left_of_the_phase() -> None:
    driver = GroupDriver()
    driver.send(requests.join(rebalance_timeout_ms=8_000), 3)
    driver.at(3_000)
    (member_id,) = membership_of(driver).members
    driver.sync(member_id, 1)
    driver.at(10_000)
    driver.heartbeat(member_id, 1)

    driver.at(19_999)
    assert state_of(driver) is STABLE
    assert driver.next_deadline_ms == 20_000
