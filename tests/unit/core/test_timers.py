from __future__ import annotations

from itertools import islice

import pytest

from group_coordinator.core import coordinator
from group_coordinator.core.errors import ErrorCode
from group_coordinator.core.group import JOIN_TIMER, SYNC_TIMER, session_timer
from group_coordinator.core.records import GroupMetadata, GroupRecord, OffsetRecord, Reason
from group_coordinator.core.requests import RequestContext
from group_coordinator.core.responses import JoinGroupResponse, SyncGroupResponse
from group_coordinator.core.states import ClassicState
from group_coordinator.core.values import Ticket
from group_coordinator.testing import GroupDriver
from tests.unit.core import messages
from tests.unit.core.situations import membership_of, state_of

EMPTY, PREPARING, COMPLETING, STABLE = (
    ClassicState.EMPTY,
    ClassicState.PREPARING_REBALANCE,
    ClassicState.COMPLETING_REBALANCE,
    ClassicState.STABLE,
)


def became_empty(at_ms: int, generation: int, reason: Reason) -> GroupRecord:
    return GroupRecord(GroupMetadata("consumer", generation, None, None, at_ms, ()), reason)


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


# The initial delay (KIP-134).


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


# Join and sync phases.


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
    context = RequestContext(6_000, ticket, "client", "/127.0.0.1", "0")

    coordinator.handle(driver.group, messages.leave((leader, None)), context, driver.config)
    steps = coordinator.advance(driver.group, 16_000, driver.config)

    assert len(list(islice(steps, 100))) < 100
    assert state_of(driver) is EMPTY


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
    driver.send(messages.sync(back, 1, instance_id="i"), 5)

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
    assert membership_of(driver).pending_syncs == set()


def test_once_all_have_synced_nothing_is_left_of_the_phase() -> None:
    driver = GroupDriver()
    driver.send(messages.join(rebalance_timeout_ms=8_000), 3)
    driver.at(3_000)
    (member_id,) = membership_of(driver).members
    driver.sync(member_id, 1)
    driver.at(10_000)
    driver.heartbeat(member_id, 1)

    driver.at(19_999)
    assert state_of(driver) is STABLE
    assert driver.next_deadline_ms == 20_000


@pytest.mark.parametrize("time_ms", [3_000, 3_001])
def test_a_deadline_comes_before_the_request_of_its_millisecond(time_ms: int) -> None:
    driver = GroupDriver()
    first = driver.join(version=3)

    driver.at(time_ms)
    driver.join(version=3)

    assert driver.response_to(first).generation == 1
    assert state_of(driver) is PREPARING


# Deadlines of one millisecond fire in the order they were set.


def test_a_sweep_comes_before_a_session_that_began_after_the_last_sweep() -> None:
    driver = GroupDriver(offsets_retention_ms=10_000, offsets_retention_check_interval_ms=20_000)
    (member_id,) = driver.form(topics=["orders"])
    driver.at(10_000)
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    assert driver.at(20_000).records == (
        OffsetRecord("refunds", 0, None, Reason.OFFSET_EXPIRED),
        became_empty(20_000, 2, Reason.SESSION_TIMEOUT),
    )


def test_a_session_that_began_anew_in_the_sync_phase_ends_after_the_phase() -> None:
    driver = GroupDriver()
    joins = [driver.join(version=3, rebalance_timeout_ms=15_000) for _ in range(2)]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    driver.at(11_000)
    driver.sync(leader, 1)
    driver.at(12_000)
    driver.heartbeat(follower, 1)
    timers = membership_of(driver).timers
    assert timers[SYNC_TIMER].due_ms == timers[session_timer(leader)].due_ms == 21_000

    # First the follower is out, which owes its SyncGroup, then the leader, which was the last.
    assert driver.at(21_000).records == (became_empty(21_000, 2, Reason.SESSION_TIMEOUT),)
