from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import stable


def test_a_member_of_a_stable_group_is_alive() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    outcome = driver.heartbeat(member_id, 1)

    assert outcome.response.error is ErrorCode.NONE
    assert outcome.records == ()


def test_in_a_join_phase_it_is_asked_to_join() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)

    assert driver.heartbeat(follower, 1).response.error is ErrorCode.REBALANCE_IN_PROGRESS


def test_while_the_leader_assigns_all_is_well() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)

    assert driver.heartbeat(follower, 2).response.error is ErrorCode.NONE


def test_a_heartbeat_begins_the_session_anew() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    assert (driver.now_ms, driver.next_deadline_ms) == (3_000, 13_000)

    driver.at(12_999)
    driver.heartbeat(member_id, 1)

    assert driver.next_deadline_ms == 22_999


def test_a_refused_heartbeat_saves_nothing() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    driver.at(12_999)
    driver.heartbeat(member_id, 2)

    assert driver.next_deadline_ms == 13_000


def test_an_unknown_group_knows_no_member() -> None:
    driver = GroupDriver()

    assert driver.heartbeat("somebody", 1).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_must_have_a_name() -> None:
    assert GroupDriver("").heartbeat("m", 1).response.error is ErrorCode.INVALID_GROUP_ID


def test_an_empty_group_knows_no_member() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.leave(member_id)

    assert driver.heartbeat(member_id, 2).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_member_is_none_yet() -> None:
    driver = GroupDriver()
    member_id = driver.join().response.member_id

    assert driver.heartbeat(member_id, 0).response.error is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("generation", [-1, 0, 2])
def test_another_generation_is_illegal(generation: int) -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    assert driver.heartbeat(member_id, generation).response.error is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize(
    ("member", "instance_id", "error"),
    [
        ("the static one", "i", ErrorCode.NONE),
        ("the static one", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("another one", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("nobody", "i", ErrorCode.FENCED_INSTANCE_ID),
    ],
)
def test_a_member_must_be_who_it_says(member: str, instance_id: str, error: ErrorCode) -> None:
    driver = GroupDriver()
    _, follower, static_id = stable(driver, static="i")
    ids = {"the static one": static_id, "another one": follower, "nobody": "nobody"}

    outcome = driver.send(requests.heartbeat(ids[member], 1, instance_id), 4)

    assert outcome.response.error is error
