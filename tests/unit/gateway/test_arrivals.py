"""The gateway reads the whole responses topic: what others have written there must not end that."""

from __future__ import annotations

import pytest

from group_coordinator.gateway.job.job_channel import ReceivedResponse, read
from group_coordinator.gateway.job.sightings import Sighting, SightingKind

JOINED = (
    b'{"api":"JoinGroup","groupId":"billing","at":7,"correlationId":"%b","body":{"errorCode":0}}'
)
SEEN = Sighting("billing", 7, SightingKind.CHANGED)
DEEP = b"[" * 100_000


def test_an_answer_to_this_gateway_and_one_to_another() -> None:
    assert read(JOINED % b"mine-1", "mine") == ReceivedResponse("mine-1", {"errorCode": 0}, SEEN)
    assert read(JOINED % b"other-1", "mine") == ReceivedResponse(None, {}, SEEN)


@pytest.mark.parametrize(
    "value",
    [b"", b"\xff", b"[]", DEEP, b'{"groupId":"\xff"}', b'{"groupId":"billing","body":' + DEEP],
)
def test_what_is_no_response_is_told_and_passed_over(
    value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert read(value, "mine") is None
    [line] = caplog.messages
    assert line.startswith("not a response of the coordinator: b")


@pytest.mark.parametrize("body", [b'{"errorCode":"\xff"}', b'{"errorCode":"none"}'])
def test_an_answer_to_another_that_cannot_be_read_says_nothing(body: bytes) -> None:
    value = b'{"api":"JoinGroup","groupId":"billing","correlationId":"other-1","body":%b}' % body

    assert read(value, "mine") is None
