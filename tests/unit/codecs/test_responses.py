from __future__ import annotations

import msgspec

from group_coordinator.codecs import events
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import HeartbeatResponse, Reply


def written(content: object) -> str:
    return msgspec.json.encode(content).decode()


def test_a_response_says_what_it_answers() -> None:
    reply = Reply(ReplyAddress("group-events-3-1742", "c-17", 4), HeartbeatResponse(ErrorCode.NONE))

    assert written(events.to_json("g", reply, 1_700_000_000_000)) == (
        '{"id":"group-events-3-1742","correlationId":"c-17","api":"Heartbeat","version":4,"groupId":"g",'
        '"at":1700000000000,"body":{"throttleTimeMs":0,"errorCode":0}}'
    )


def test_an_event_that_is_no_request_is_answered_too() -> None:
    fault = InvalidEventError(
        "api = Fetch: unknown",
        ErrorCode.INVALID_REQUEST,
        api="Fetch",
        version=12,
        correlation_id="c-18",
    )

    assert written(events.error_response_to_json("g", "group-events-3-1743", fault, 1_000)) == (
        '{"id":"group-events-3-1743","correlationId":"c-18","api":"Fetch","version":12,"groupId":"g",'
        '"at":1000,"body":{"errorCode":42,"errorMessage":"api = Fetch: unknown"}}'
    )
