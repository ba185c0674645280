from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Heartbeat
from group_coordinator.core.model.responses import HeartbeatResponse
from tests.unit.codecs.apis.messages import read, written


@pytest.mark.parametrize("version", range(5))
def test_who_is_alive(version: int) -> None:
    body = {"groupId": "g", "generationId": 4, "memberId": "m"}

    assert read("Heartbeat", version, body) == Heartbeat("g", 4, "m", None)
    if version >= 3:
        static = body | {"groupInstanceId": ""}
        assert read("Heartbeat", version, static) == Heartbeat("g", 4, "m", "")


def test_the_answer_has_an_error_only() -> None:
    response = HeartbeatResponse(ErrorCode.REBALANCE_IN_PROGRESS)

    assert written(response, 0) == '{"errorCode":27}'
    for version in (1, 2, 3, 4):
        assert written(response, version) == '{"throttleTimeMs":0,"errorCode":27}'
