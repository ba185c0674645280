from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import SyncGroup
from group_coordinator.core.model.responses import SyncGroupResponse
from tests.unit.codecs.apis.messages import read, written


@pytest.mark.parametrize("version", range(6))
def test_the_assignments_that_the_leader_hands_in(version: int) -> None:
    body = {
        "groupId": "g",
        "generationId": 4,
        "memberId": "m",
        "groupInstanceId": "i" if version >= 3 else None,
        "protocolType": "consumer",
        "protocolName": "range",
        "assignments": [{"memberId": "m", "assignment": "AAE="}],
    }

    expected = SyncGroup(
        group_id="g",
        generation=4,
        member_id="m",
        group_instance_id="i" if version >= 3 else None,
        protocol_type="consumer" if version >= 5 else None,
        protocol="range" if version >= 5 else None,
        assignments=(("m", b"\x00\x01"),),
    )
    assert read("SyncGroup", version, body) == expected


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((0,), '{"errorCode":0,"assignment":"AAE="}'),
        ((1, 2, 3, 4), '{"throttleTimeMs":0,"errorCode":0,"assignment":"AAE="}'),
        (
            (5,),
            (
                '{"throttleTimeMs":0,"errorCode":0,"protocolType":"consumer","protocolName":"range",'
                '"assignment":"AAE="}'
            ),
        ),
    ],
)
def test_the_assignment_that_a_member_gets(versions: tuple[int, ...], expected: str) -> None:
    response = SyncGroupResponse(ErrorCode.NONE, "consumer", "range", b"\x00\x01")

    assert [written(response, version) for version in versions] == [expected] * len(versions)


def test_a_sync_that_is_refused() -> None:
    assert written(SyncGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID), 5) == (
        '{"throttleTimeMs":0,"errorCode":25,"protocolType":null,"protocolName":null,"assignment":""}'
    )
