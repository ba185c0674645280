from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, Reason
from group_coordinator.core.model.responses import (
    JoinGroupResponse,
    LeaveGroupResponse,
    MemberResult,
    SyncGroupResponse,
)
from group_coordinator.core.model.states import ClassicState
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, stable, state_of

NONE, UNKNOWN, FENCED = (
    ErrorCode.NONE,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
)


def test_the_last_one_leaves_an_empty_group() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.at(5_000)

    outcome = driver.leave(member_id)

    assert outcome.response == LeaveGroupResponse(NONE, (MemberResult(member_id, None, NONE),))
    empty = GroupMetadata(
        protocol_type="consumer",
        generation=2,
        protocol=None,
        leader=None,
        state_timestamp_ms=5_000,
        members=(),
    )
    assert outcome.records == (GroupRecord(empty, Reason.LEAVE),)
    assert state_of(driver) is ClassicState.EMPTY
    assert membership_of(driver).timers == {}


def test_one_leaves_and_the_others_rebalance() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)

    assert driver.leave(follower).records == ()

    assert state_of(driver) is ClassicState.PREPARING_REBALANCE
    assert driver.join(leader).response.generation == 2


def test_when_the_leader_leaves_another_one_leads() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.leave(leader)

    assert driver.join(follower).response.leader == follower


def test_several_leave_at_once_each_with_its_own_result() -> None:
    driver = GroupDriver()
    leader, follower, static_id = stable(driver, static="i")

    request = requests.leave(
        (leader, None), ("nobody", None), (follower, "i"), ("", "unknown"), ("", None), ("", "i")
    )
    outcome = driver.send(request, 5)

    assert outcome.response == LeaveGroupResponse(
        NONE,
        (
            MemberResult(leader, None, NONE),
            MemberResult("nobody", None, UNKNOWN),
            MemberResult(follower, "i", FENCED),
            MemberResult("", "unknown", UNKNOWN),
            MemberResult("", None, UNKNOWN),
            MemberResult("", "i", NONE),
        ),
    )
    assert set(membership_of(driver).members) == {follower}
    assert static_id != follower


def test_when_nobody_can_leave_nothing_happens() -> None:
    driver = GroupDriver()
    driver.form()

    assert driver.leave("nobody").response.members == (MemberResult("nobody", None, UNKNOWN),)
    assert state_of(driver) is ClassicState.STABLE


def test_a_static_member_may_leave_by_both_its_names() -> None:
    driver = GroupDriver()
    *_, static_id = stable(driver, static="i")

    outcome = driver.send(requests.leave((static_id, "i")), 5)

    assert outcome.response.members == (MemberResult(static_id, "i", NONE),)


def test_who_leaves_while_it_waits_to_join_hears_of_it() -> None:
    driver = GroupDriver()
    leader, _ = driver.form(2)
    join = driver.join(leader)

    outcome = driver.leave(leader)

    assert outcome.responses[join.correlation_id] == JoinGroupResponse(UNKNOWN, "")


def test_who_leaves_while_it_waits_to_sync_hears_of_it() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    sync = driver.sync(follower, 2)

    outcome = driver.leave(follower)

    assert outcome.responses[sync.correlation_id] == SyncGroupResponse(UNKNOWN)
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE


def test_the_last_one_missing_leaves_and_the_phase_ends() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    join = driver.join(leader)

    outcome = driver.leave(follower)

    assert outcome.responses[join.correlation_id].generation == 2
    assert state_of(driver) is ClassicState.COMPLETING_REBALANCE


def test_a_pending_member_can_leave() -> None:
    driver = GroupDriver()
    pending = driver.join().response.member_id

    assert driver.leave(pending).response.members == (MemberResult(pending, None, NONE),)
    assert driver.join(pending).response.error is UNKNOWN


def test_a_pending_member_that_leaves_ends_the_phase_for_which_it_was_missing() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    pending = driver.join().response.member_id
    join = driver.join(member_id)
    assert join.is_parked

    driver.leave(pending)

    assert driver.response_to(join).generation == 2


def test_leaving_does_not_end_the_initial_delay() -> None:
    driver = GroupDriver()
    first, second = driver.join(instance_id="i"), driver.join(version=3)

    driver.leave(instance_id="i")

    assert driver.response_to(first).error is UNKNOWN
    driver.at(2_999)
    assert second.correlation_id not in driver.responses
    driver.at(6_000)
    assert driver.response_to(second).generation == 1


def test_an_unknown_group_tells_every_member() -> None:
    outcome = GroupDriver().leave("a", "b", instance_id="i")

    assert outcome.response == LeaveGroupResponse(
        NONE,
        (
            MemberResult("a", None, UNKNOWN),
            MemberResult("b", None, UNKNOWN),
            MemberResult("", "i", UNKNOWN),
        ),
    )


def test_a_group_must_have_a_name() -> None:
    assert GroupDriver("").leave("m").response == LeaveGroupResponse(ErrorCode.INVALID_GROUP_ID)
