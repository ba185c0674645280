from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import DescribeGroup
from group_coordinator.core.model.responses import DescribedMember, DescribeGroupResponse
from tests.unit.codecs.apis.messages import read, written


@pytest.mark.parametrize("version", range(7))
def test_the_group_that_is_asked_for(version: int) -> None:
    assert read("DescribeGroups", version, {"groups": ["g"]}) == DescribeGroup("g")
    if version >= 3:
        asked = {"groups": ["g"], "includeAuthorizedOperations": True}
        wanted = DescribeGroup("g", asks_for_operations=True)
        assert read("DescribeGroups", version, asked) == wanted


DESCRIBED = DescribeGroupResponse(
    error=ErrorCode.NONE,
    error_message=None,
    group_id="g",
    state="Stable",
    protocol_type="consumer",
    protocol="range",
    members=(
        DescribedMember(
            member_id="m",
            group_instance_id="i",
            client_id="client",
            client_host="/10.0.0.1",
            metadata=b"\x00\x01",
            assignment=b"\x00",
        ),
    ),
)
STATE = '"groupId":"g","groupState":"Stable","protocolType":"consumer","protocolData":"range"'
CLIENT = (
    '"clientId":"client","clientHost":"/10.0.0.1","memberMetadata":"AAE=","memberAssignment":"AA=="'
)
OLD_MEMBER = f'"members":[{{"memberId":"m",{CLIENT}}}]'
MEMBER = f'"members":[{{"memberId":"m","groupInstanceId":"i",{CLIENT}}}]'
NO_OPERATIONS = '"authorizedOperations":-2147483648'
THROTTLE = '"throttleTimeMs":0'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((0,), f'{{"groups":[{{"errorCode":0,{STATE},{OLD_MEMBER}}}]}}'),
        ((1, 2), f'{{{THROTTLE},"groups":[{{"errorCode":0,{STATE},{OLD_MEMBER}}}]}}'),
        ((3,), f'{{{THROTTLE},"groups":[{{"errorCode":0,{STATE},{OLD_MEMBER},{NO_OPERATIONS}}}]}}'),
        ((4, 5), f'{{{THROTTLE},"groups":[{{"errorCode":0,{STATE},{MEMBER},{NO_OPERATIONS}}}]}}'),
        (
            (6,),
            f'{{{THROTTLE},"groups":[{{"errorCode":0,"errorMessage":null,{STATE},{MEMBER},{NO_OPERATIONS}}}]}}',
        ),
    ],
)
def test_a_group_with_a_member(versions: tuple[int, ...], expected: str) -> None:
    assert [written(DESCRIBED, version) for version in versions] == [expected] * len(versions)


def test_version_6_says_why_there_is_nothing() -> None:
    response = DescribeGroupResponse(
        error=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message="Group g not found.",
        group_id="g",
        state="Dead",
    )

    assert written(response, 6) == (
        '{"throttleTimeMs":0,"groups":[{"errorCode":69,"errorMessage":"Group g not found.","groupId":"g",'
        '"groupState":"Dead","protocolType":"","protocolData":"","members":[],'
        '"authorizedOperations":-2147483648}]}'
    )
