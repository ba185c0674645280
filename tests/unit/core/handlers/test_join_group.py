"""JoinGroup: reasons and values of its records and responses that no story shows."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.classic_member import ClassicState, Protocol
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, Reason
from group_coordinator.core.model.responses import JoinGroupResponse
from group_coordinator.core.model.timers import session_timer
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, stable, state_of
from tests.unit.core.requests import protocol


def test_the_first_join_creates_the_group_and_gives_out_an_id() -> None:
    driver = GroupDriver()

    outcome = driver.join()

    created = GroupMetadata(
        protocol_type="", generation=0, protocol=None, leader=None, state_timestamp_ms=0, members=()
    )
    assert outcome.records == (GroupRecord(created, Reason.JOIN),)
    assert outcome.response.error is ErrorCode.MEMBER_ID_REQUIRED
    assert outcome.response.member_id.startswith("client-")
    assert state_of(driver) is ClassicState.EMPTY


def test_two_ids_are_never_the_same() -> None:
    driver = GroupDriver()

    assert driver.join().response.member_id != driver.join().response.member_id


def test_a_tied_vote_goes_by_name() -> None:
    driver = GroupDriver()
    for names in (("sticky", "range"), ("range", "sticky")):
        driver.send(requests.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "range"


@pytest.mark.parametrize(
    ("lists", "chosen"),
    [
        ([("range", "range")], "range"),
        ([("range", "range", "sticky"), ("sticky", "sticky")], "sticky"),
        ([("range", "range", "sticky"), ("sticky", "other")], "sticky"),
        ([("range", "range", "sticky"), ("sticky",), ("range",)], "range"),
    ],
)
def test_where_a_name_that_comes_twice_leaves_nothing_to_choose_most_decide(
    lists: list[tuple[str, ...]], chosen: str
) -> None:
    """Kafka's group answers nobody until its members are out."""
    driver = GroupDriver()
    for names in lists:
        driver.send(requests.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == chosen
    assert len(membership_of(driver).members) == len(lists)


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


def test_metadata_of_all_members_that_no_response_can_hold_leaves_no_room() -> None:
    driver = GroupDriver()
    large = Protocol("range", b"x" * 1_000_000)
    for _ in range(16):
        assert driver.send(requests.join("", large), 3).responses == {}

    assert driver.send(requests.join("", large), 3).response.error is (
        ErrorCode.GROUP_MAX_SIZE_REACHED
    )
    assert driver.send(requests.join("", protocol("range")), 3).responses == {}
    first = next(iter(membership_of(driver).members))
    larger = Protocol("range", b"y" * 1_800_000)
    refused = driver.send(requests.join(first, larger), 3).response
    assert refused.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert membership_of(driver).members[first].protocols == (large,)
    smaller = Protocol("range", b"y" * 1_700_000)
    driver.send(requests.join(first, smaller), 3)
    assert membership_of(driver).members[first].protocols == (smaller,)
