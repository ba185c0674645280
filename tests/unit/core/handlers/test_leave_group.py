from __future__ import annotations

from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, Reason
from group_coordinator.core.model.responses import (
    LeaveGroupResponse,
    MemberResult,
    SyncGroupResponse,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, stable, state_of

NONE, UNKNOWN, FENCED = (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)


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


def test_who_leaves_while_it_waits_to_sync_hears_of_it() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)
    sync = driver.sync(follower, 2)

    outcome = driver.leave(follower)

    assert outcome.responses[sync.correlation_id] == SyncGroupResponse(UNKNOWN)
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE
