from __future__ import annotations

import pytest

from group_coordinator.clients.channel.response import Response, read


def test_a_response_has_what_was_asked_and_its_body() -> None:
    value = b'{"api":"Heartbeat","groupId":"g","correlationId":"c-1","body":{"errorCode":0}}'

    assert read(value) == Response("c-1", {"errorCode": 0})


@pytest.mark.parametrize(
    "value", [b"", b"c-1", b"[]", b'{"correlationId":"\xff"}', b'{"body":' + b"[" * 100_000]
)
def test_what_is_no_response_is_told_and_passed_over(
    value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert read(value) is None
    assert caplog.messages[0].startswith("not a response of the coordinator: b")
