from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import JoinGroup
from group_coordinator.core.model.responses import JoinedMember, JoinGroupResponse
from tests.unit.codecs.apis.messages import read, written

Body = dict[str, Any]
SUBSCRIPTION = encode_subscription(["orders"])


def body_of_a_join(**fields: object) -> Body:
    protocols = [{"name": "range", "metadata": b64encode(SUBSCRIPTION).decode()}]
    required = {"groupId": "g", "sessionTimeoutMs": 10_000, "memberId": "m"}
    return required | {"protocolType": "consumer", "protocols": protocols} | fields


def joined(rebalance_timeout_ms: int, instance_id: str | None = None) -> JoinGroup:
    return JoinGroup(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id="m",
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocols=(Protocol("range", SUBSCRIPTION),),
    )


def test_version_0_has_one_timeout_for_both() -> None:
    assert read("JoinGroup", 0, body_of_a_join()) == joined(10_000)
    assert read("JoinGroup", 0, body_of_a_join(rebalanceTimeoutMs=1)) == joined(10_000)


@pytest.mark.parametrize("version", range(1, 10))
def test_later_versions_have_a_rebalance_timeout(version: int) -> None:
    assert read("JoinGroup", version, body_of_a_join(rebalanceTimeoutMs=5)) == joined(5)
    assert read("JoinGroup", version, body_of_a_join()) == joined(-1)


@pytest.mark.parametrize("version", range(5, 10))
def test_version_5_brings_static_members(version: int) -> None:
    body = body_of_a_join(rebalanceTimeoutMs=5, groupInstanceId="i", reason="a reason")

    assert read("JoinGroup", version, body) == joined(5, "i")


def test_what_others_than_consumers_say_is_theirs() -> None:
    body = body_of_a_join(protocolType="connect")

    assert read("JoinGroup", 0, body) == joined(10_000).replace(protocol_type="connect")


LEADER = JoinGroupResponse(
    ErrorCode.NONE,
    "m",
    4,
    "consumer",
    "range",
    "m",
    members=(JoinedMember("m", "i", b"\x00\x01"),),
)
OLD_MEMBERS = '"memberId":"m","members":[{"memberId":"m","metadata":"AAE="}]'
MEMBERS = '"memberId":"m","members":[{"memberId":"m","groupInstanceId":"i","metadata":"AAE="}]'
GENERATION = '"errorCode":0,"generationId":4'
RANGE = '"protocolName":"range","leader":"m"'
THROTTLE = '"throttleTimeMs":0'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((0, 1), f"{{{GENERATION},{RANGE},{OLD_MEMBERS}}}"),
        ((2, 3, 4), f"{{{THROTTLE},{GENERATION},{RANGE},{OLD_MEMBERS}}}"),
        ((5, 6), f"{{{THROTTLE},{GENERATION},{RANGE},{MEMBERS}}}"),
        ((7, 8), f'{{{THROTTLE},{GENERATION},"protocolType":"consumer",{RANGE},{MEMBERS}}}'),
        (
            (9,),
            (
                f'{{{THROTTLE},{GENERATION},"protocolType":"consumer",{RANGE},"skipAssignment":false,'
                f"{MEMBERS}}}"
            ),
        ),
    ],
)
def test_the_leader_is_told_the_members(versions: tuple[int, ...], expected: str) -> None:
    assert [written(LEADER, version) for version in versions] == [expected] * len(versions)


def test_a_join_that_is_refused_names_no_protocol() -> None:
    refusal = JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, "m")

    assert written(refusal, 6) == (
        '{"throttleTimeMs":0,"errorCode":79,"generationId":-1,"protocolName":"","leader":"",'
        '"memberId":"m","members":[]}'
    )
    assert written(refusal, 9) == (
        '{"throttleTimeMs":0,"errorCode":79,"generationId":-1,"protocolType":null,"protocolName":null,'
        '"leader":"","skipAssignment":false,"memberId":"m","members":[]}'
    )
