"""JoinGroup: who gets in, under which id, and how many."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, Reason
from group_coordinator.core.model.responses import JoinedMember, JoinGroupResponse
from group_coordinator.core.model.states import ClassicState
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, state_of
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


def test_the_id_is_the_way_in() -> None:
    driver = GroupDriver()
    member_id = driver.join().response.member_id

    join = driver.join(member_id)
    assert join.is_parked
    assert join.records == ()
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE

    driver.at(3_000)
    assert driver.response_to(join) == JoinGroupResponse(
        ErrorCode.NONE,
        member_id,
        generation=1,
        protocol_type="consumer",
        protocol="range",
        leader=member_id,
        members=(JoinedMember(member_id, None, protocol().metadata),),
    )


def test_two_ids_are_never_the_same() -> None:
    driver = GroupDriver()

    assert driver.join().response.member_id != driver.join().response.member_id


def test_before_version_4_nobody_asks_for_an_id() -> None:
    driver = GroupDriver()

    join = driver.join(version=3)

    assert join.is_parked
    assert driver.join(version=4).response.error is ErrorCode.MEMBER_ID_REQUIRED
    driver.leave(*membership_of(driver).pending_joins)
    driver.at(3_000)
    assert driver.response_to(join).error is ErrorCode.NONE
    assert driver.response_to(join).member_id.startswith("client-")


def test_a_group_must_have_a_name() -> None:
    outcome = GroupDriver("").join()

    assert outcome.response.error is ErrorCode.INVALID_GROUP_ID
    assert outcome.records == ()


@pytest.mark.parametrize(
    ("session_timeout_ms", "error"),
    [
        (5_999, ErrorCode.INVALID_SESSION_TIMEOUT),
        (6_000, ErrorCode.MEMBER_ID_REQUIRED),
        (1_800_000, ErrorCode.MEMBER_ID_REQUIRED),
        (1_800_001, ErrorCode.INVALID_SESSION_TIMEOUT),
    ],
)
def test_session_timeouts_have_bounds(session_timeout_ms: int, error: ErrorCode) -> None:
    driver = GroupDriver()

    assert driver.join(session_timeout_ms=session_timeout_ms).response.error is error


def test_an_unknown_group_knows_no_member() -> None:
    driver = GroupDriver()

    outcome = driver.join("somebody")

    assert outcome.response == JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, "somebody")
    assert outcome.records == ()
    assert state_of(driver) is ClassicState.DEAD


@pytest.mark.parametrize("protocol_type", ["", "consumer"])
def test_a_first_join_without_protocols_is_refused_but_creates_the_group(
    protocol_type: str,
) -> None:
    driver = GroupDriver()
    request = requests.join(protocol_type=protocol_type).replace(protocols=())

    outcome = driver.send(request, 9)

    assert outcome.response.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert outcome.records == (
        GroupRecord(
            GroupMetadata(
                protocol_type="",
                generation=0,
                protocol=None,
                leader=None,
                state_timestamp_ms=0,
                members=(),
            ),
            Reason.JOIN,
        ),
    )
    assert state_of(driver) is ClassicState.EMPTY


def test_a_simple_group_becomes_a_real_one_and_keeps_its_offsets() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 42}})

    assert driver.join(version=3).records == ()
    driver.at(3_000)

    assert state_of(driver) is ClassicState.COMPLETING_REBALANCE
    assert driver.group.offsets["orders"][0].offset == 42


def test_a_pending_member_cannot_become_a_static_one() -> None:
    driver = GroupDriver()
    member_id = driver.join().response.member_id

    outcome = driver.join(member_id, instance_id="i")

    assert outcome.response == JoinGroupResponse(ErrorCode.UNKNOWN_SERVER_ERROR, "")
    assert driver.join(member_id).is_parked


def test_a_member_that_left_is_unknown() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.leave(member_id)

    assert driver.join(member_id).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_full_group_takes_no_newcomer() -> None:
    driver = GroupDriver(group_max_size=2)
    leader, _ = driver.form(2)

    outcome = driver.join()

    assert outcome.response == JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert driver.join(leader).is_parked


@pytest.mark.parametrize("instance_id", [None, "i"])
@pytest.mark.parametrize(("members", "has_room"), [(1, True), (2, True), (3, False)])
def test_a_group_has_room_up_to_its_size(
    members: int, instance_id: str | None, *, has_room: bool
) -> None:
    driver = GroupDriver(group_max_size=3)
    driver.form(members)

    newcomer = driver.join(instance_id=instance_id, version=3)

    assert newcomer.is_parked is has_room
    if not has_room:
        assert newcomer.response == JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        assert len(membership_of(driver).members) == 3


def test_in_a_join_phase_the_last_to_come_is_turned_away() -> None:
    driver = GroupDriver(group_max_size=2)
    leader, follower = driver.form(2)
    driver.join(leader)
    newcomer = driver.join(version=3)

    outcome = driver.join(follower)

    assert outcome.response == JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert follower not in membership_of(driver).members
    assert driver.join(leader).response.generation == 2, "who waits already has its place"
    assert driver.response_to(newcomer).generation == 2
