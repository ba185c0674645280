from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import LeaveGroup, LeavingMember
from group_coordinator.core.model.responses import LeaveGroupResponse, MemberResult
from tests.unit.codecs.apis.messages import read, written


@pytest.mark.parametrize("version", range(3))
def test_a_request_carried_one_member_at_first(version: int) -> None:
    body = {"groupId": "g", "memberId": "m", "members": []}

    assert read("LeaveGroup", version, body) == LeaveGroup("g", (LeavingMember("m", None),))


@pytest.mark.parametrize("version", range(3, 6))
def test_a_request_carries_several_members(version: int) -> None:
    members = [{"memberId": "m"}, {"memberId": "", "groupInstanceId": "i", "reason": "gone"}]

    identities = (LeavingMember("m", None), LeavingMember("", "i"))
    assert read("LeaveGroup", version, {"groupId": "g", "members": members}) == LeaveGroup(
        "g", identities
    )


NONE = ErrorCode.NONE


def test_a_response_was_for_one_member_at_first() -> None:
    gone = LeaveGroupResponse(NONE, (MemberResult("m", None, NONE),))
    unknown = LeaveGroupResponse(NONE, (MemberResult("m", None, ErrorCode.UNKNOWN_MEMBER_ID),))
    refused = LeaveGroupResponse(ErrorCode.INVALID_GROUP_ID)

    assert written(gone, 0) == '{"errorCode":0}'
    assert written(unknown, 0) == '{"errorCode":25}'
    for version in (1, 2):
        assert written(unknown, version) == '{"throttleTimeMs":0,"errorCode":25}'
        assert written(refused, version) == '{"throttleTimeMs":0,"errorCode":24}'


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_response_is_for_each_member(version: int) -> None:
    results = (MemberResult("m", None, NONE), MemberResult("", "i", ErrorCode.UNKNOWN_MEMBER_ID))

    assert written(LeaveGroupResponse(NONE, results), version) == (
        '{"throttleTimeMs":0,"errorCode":0,"members":['
        '{"memberId":"m","groupInstanceId":null,"errorCode":0},'
        '{"memberId":"","groupInstanceId":"i","errorCode":25}]}'
    )
    assert written(LeaveGroupResponse(ErrorCode.INVALID_GROUP_ID), version) == (
        '{"throttleTimeMs":0,"errorCode":24,"members":[]}'
    )
