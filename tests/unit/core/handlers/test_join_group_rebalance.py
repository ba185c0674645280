"""JoinGroup where there are members: who makes all rebalance, and who only hears of its generation."""

from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import JoinGroupResponse
from group_coordinator.core.model.states import ClassicState
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import membership_of, state_of


def test_a_newcomer_makes_a_stable_group_rebalance() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    newcomer = driver.join(version=3)

    assert newcomer.is_parked
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE
    outcome = driver.join(member_id)
    assert outcome.response.generation == 2
    assert outcome.response.leader == member_id
    assert len(outcome.response.members) == 2
    assert driver.response_to(newcomer).generation == 2
    assert driver.response_to(newcomer).members == ()


def test_nothing_happens_until_a_pending_member_comes() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    newcomer_id = driver.join().response.member_id
    assert state_of(driver) is ClassicState.STABLE

    assert driver.join(newcomer_id).is_parked
    assert driver.join(member_id).response.generation == 2


def test_a_leader_that_joins_again_makes_all_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    assert driver.join(leader).is_parked

    assert driver.heartbeat(follower, 1).response.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert driver.join(follower).response.generation == 2


def test_a_follower_that_joins_again_unchanged_hears_of_its_generation() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    outcome = driver.join(follower)

    assert outcome.response == JoinGroupResponse(
        ErrorCode.NONE, follower, 1, "consumer", "range", leader
    )
    assert state_of(driver) is ClassicState.STABLE


def test_a_follower_with_another_subscription_makes_all_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    assert driver.join(follower, topics=["payments"]).is_parked

    driver.join(leader)
    assert membership_of(driver).subscribed_topics == {"orders", "payments"}


def test_joining_again_while_the_leader_assigns_changes_nothing() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)

    assert driver.join(follower).response.members == ()
    assert [member.member_id for member in driver.join(leader).response.members] == sorted(
        [leader, follower]
    )
    assert state_of(driver) is ClassicState.COMPLETING_REBALANCE


def test_a_change_while_the_leader_assigns_begins_again() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    sync = driver.sync(follower, 2)

    outcome = driver.join(leader, topics=["payments"])

    assert outcome.is_parked
    assert outcome.responses[sync.correlation_id].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert driver.join(follower).response.generation == 3


def test_a_join_replaces_the_one_that_waits() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    first = driver.join(leader)

    second = driver.join(leader, topics=["payments"])

    assert second.responses[first.correlation_id] == JoinGroupResponse(
        ErrorCode.REBALANCE_IN_PROGRESS, leader
    )
    driver.join(follower)
    assert driver.response_to(second).generation == 2
    assert membership_of(driver).subscribed_topics == {"orders", "payments"}
