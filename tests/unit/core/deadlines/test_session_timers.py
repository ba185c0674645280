"""How long members live that are not heard of, and ids that were only given out."""

from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.responses import JoinGroupResponse, SyncGroupResponse
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import (
    EMPTY,
    PREPARING,
    STABLE,
    became_empty,
    membership_of,
    state_of,
)

# Sessions.


def test_a_session_ends_to_the_millisecond() -> None:
    driver = GroupDriver()
    driver.form()
    assert driver.next_deadline_ms == 13_000

    assert driver.at(12_999).records == ()
    assert driver.at(13_000).records == (became_empty(13_000, 2, Reason.SESSION_TIMEOUT),)
    assert driver.at(13_001).records == ()
    assert state_of(driver) is EMPTY


def test_a_session_ends_at_its_own_time_whenever_it_is_seen() -> None:
    driver = GroupDriver()
    driver.form()

    outcome = driver.at(500_000)

    assert outcome.records == (became_empty(13_000, 2, Reason.SESSION_TIMEOUT),)


def test_when_one_falls_silent_the_others_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.at(10_000)
    driver.heartbeat(leader, 1)

    assert driver.at(15_999).records == ()
    assert state_of(driver) is STABLE
    assert driver.at(16_000).records == ()
    assert state_of(driver) is PREPARING
    assert list(membership_of(driver).members) == [leader]
    assert driver.heartbeat(follower, 1).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_who_falls_silent_while_the_others_wait_ends_the_phase() -> None:
    driver = GroupDriver()
    leader, _ = driver.form(2)
    join = driver.join(leader)

    driver.at(15_999)
    assert join.correlation_id not in driver.responses
    driver.at(16_000)
    assert driver.response_to(join).generation == 2


def test_who_falls_silent_while_the_leader_assigns_begins_a_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    sync = driver.sync(follower, 2)
    driver.at(15_999)
    driver.heartbeat(follower, 2)

    outcome = driver.at(16_000)

    assert outcome.responses == {
        sync.correlation_id: SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
    }
    assert state_of(driver) is PREPARING


def test_who_waits_does_not_fall_silent() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    sync = driver.sync(follower, 2)
    for time_ms in (15_000, 24_000):
        driver.at(time_ms)
        driver.heartbeat(leader, 2)
    assert sync.correlation_id not in driver.responses

    driver.sync(leader, 2)

    assert driver.response_to(sync).error is ErrorCode.NONE
    driver.at(33_999)
    assert state_of(driver) is STABLE
    driver.at(34_000)
    assert membership_of(driver).members == {}


def test_a_session_may_change_with_a_rebalance() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    driver.join(member_id, session_timeout_ms=30_000)

    assert driver.next_deadline_ms == 33_000


# New and pending members.


def test_a_newcomer_is_held_for_five_minutes() -> None:
    driver = GroupDriver()
    driver.join(session_timeout_ms=1_800_000, rebalance_timeout_ms=600_000, version=3)
    driver.at(3_000)
    newcomer = driver.join(rebalance_timeout_ms=600_000, version=3)
    assert state_of(driver) is PREPARING

    driver.at(302_999)
    assert newcomer.correlation_id not in driver.responses
    driver.at(303_000)
    assert driver.response_to(newcomer) == JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, "")


def test_a_pending_member_lives_for_its_session() -> None:
    driver = GroupDriver()
    pending = driver.join(session_timeout_ms=6_000).response.member_id

    driver.at(5_999)
    assert membership_of(driver).pending_joins == {pending}
    assert driver.at(6_000).records == ()
    assert membership_of(driver).pending_joins == set()
    assert driver.join(pending).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_member_that_never_comes_holds_the_phase_up_to_its_end() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.join(session_timeout_ms=6_000)
    join = driver.join(member_id)

    driver.at(8_999)
    assert join.correlation_id not in driver.responses
    driver.at(9_000)
    assert driver.response_to(join).generation == 2


def test_a_pending_member_that_never_comes_ends_even_the_initial_delay() -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=20_000)
    driver.join(session_timeout_ms=6_000)
    join = driver.join(version=3)

    driver.at(5_999)
    assert join.correlation_id not in driver.responses
    driver.at(6_000)
    assert driver.response_to(join).generation == 1


def test_a_pending_member_that_comes_before_its_end_is_in() -> None:
    driver = GroupDriver()
    pending = driver.join(session_timeout_ms=6_000).response.member_id
    driver.at(5_999)

    assert driver.join(pending).is_parked
    driver.at(8_999)
    assert driver.next_deadline_ms == 8_999 + 10_000
    assert membership_of(driver).generation == 1
