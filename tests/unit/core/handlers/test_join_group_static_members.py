"""JoinGroup of static members (KIP-345)."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord
from group_coordinator.core.model.responses import JoinedMember, JoinGroupResponse
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.timers import session_timer
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, stable, state_of
from tests.unit.core.requests import protocol


def test_a_static_member_needs_no_id_first() -> None:
    driver = GroupDriver()

    join = driver.join(instance_id="i")

    assert join.is_parked
    driver.at(3_000)
    member_id = driver.response_to(join).member_id
    assert member_id.startswith("i-")
    assert driver.response_to(join).members == (JoinedMember(member_id, "i", protocol().metadata),)


def test_a_static_follower_comes_back_without_a_rebalance() -> None:
    driver = GroupDriver()
    leader, follower, old_id = stable(driver, static="i")

    outcome = driver.join(instance_id="i")

    new_id = outcome.response.member_id
    assert outcome.response == JoinGroupResponse(
        ErrorCode.NONE, new_id, 1, "consumer", "range", leader
    )
    assert new_id != old_id
    (record,) = outcome.records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert record.value.generation == 1
    assert {m.member_id for m in record.value.members} == {leader, follower, new_id}
    assert state_of(driver) is ClassicState.STABLE


def test_a_static_member_that_came_back_waits_for_nothing() -> None:
    driver = GroupDriver()
    leader, follower, gone = stable(driver, static="i")
    back = driver.join(instance_id="i").response.member_id
    assert session_timer(gone) not in membership_of(driver).timers

    join = driver.join(leader)
    outcome = driver.join(follower)

    assert outcome.responses == {}
    driver.at(16_000)
    assert back not in membership_of(driver).members
    assert driver.response_to(join).generation == 2


def test_a_static_member_that_comes_back_as_the_last_one_ends_the_join_phase() -> None:
    driver = GroupDriver()
    leader, follower, _ = stable(driver, static="i")
    driver.join(leader)
    driver.join(follower)

    outcome = driver.join(instance_id="i")

    assert outcome.response.generation == 2
    assert len(outcome.responses) == 3


def test_a_static_member_that_comes_back_does_not_fall_silent_while_it_waits() -> None:
    driver = GroupDriver()
    leader, follower, _ = stable(driver, static="i")
    driver.join(leader)
    back = driver.join(instance_id="i")
    for time_ms in (15_000, 24_000):
        driver.at(time_ms)
        driver.heartbeat(follower, 1)

    driver.join(follower)

    assert driver.response_to(back).generation == 2


def test_a_static_leader_that_comes_back_is_told_to_skip_the_assignment() -> None:
    driver = GroupDriver()
    old = driver.join(instance_id="i")
    driver.at(3_000)
    old_id = driver.response_to(old).member_id
    driver.sync(old_id, 1, {old_id: {"orders": [0]}})

    response = driver.join(instance_id="i", version=9).response

    assert response.skip_assignment
    assert response.leader == response.member_id
    assert [member.member_id for member in response.members] == [response.member_id]
    assert driver.sync(response.member_id, 1).response.assignment != b""


def test_before_version_9_a_static_leader_hears_its_old_id_as_the_leaders() -> None:
    driver = GroupDriver()
    old = driver.join(instance_id="i")
    driver.at(3_000)
    old_id = driver.response_to(old).member_id
    driver.sync(old_id, 1)

    response = driver.join(instance_id="i", version=8).response

    assert not response.skip_assignment
    assert response.leader == old_id
    assert response.members == ()
    assert membership_of(driver).leader == response.member_id


def test_a_static_member_that_changes_the_vote_makes_all_rebalance() -> None:
    driver = GroupDriver()
    both = (protocol("range"), protocol("sticky"))
    driver.send(requests.join("", *both, instance_id="i"), 9)
    driver.at(3_000)
    driver.sync(*membership_of(driver).members, 1)

    outcome = driver.send(requests.join("", *reversed(both), instance_id="i"), 9)

    assert outcome.response.generation == 2
    assert outcome.response.protocol == "sticky"


def test_a_static_member_that_comes_back_while_the_leader_assigns_begins_again() -> None:
    driver = GroupDriver()
    leader, follower, old_id = stable(driver, static="i")
    for member_id, instance_id in ((leader, None), (follower, None), (old_id, "i")):
        driver.join(member_id, instance_id=instance_id)
    sync = driver.sync(old_id, 2)

    outcome = driver.join(instance_id="i")

    assert outcome.is_parked
    assert driver.response_to(sync).error is ErrorCode.FENCED_INSTANCE_ID
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE


def test_a_static_member_that_comes_back_while_it_waits_to_join_fences_itself() -> None:
    driver = GroupDriver()
    first = driver.join(instance_id="i")

    second = driver.join(instance_id="i")

    assert second.is_parked
    refused = driver.response_to(first)
    assert refused.error is ErrorCode.FENCED_INSTANCE_ID
    assert refused.member_id.startswith("i-")
    driver.at(3_000)
    assert driver.response_to(second).generation == 1


@pytest.mark.parametrize(
    ("member", "instance_id", "error"),
    [
        ("the static one", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("another one", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_member_must_be_who_it_says(
    member: str, instance_id: str | None, error: ErrorCode
) -> None:
    driver = GroupDriver()
    _, follower, static_id = stable(driver, static="i")
    ids = {"the static one": static_id, "another one": follower, "nobody": "nobody"}

    outcome = driver.join(ids[member], instance_id=instance_id)

    assert outcome.response == JoinGroupResponse(error, ids[member])
