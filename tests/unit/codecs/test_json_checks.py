from __future__ import annotations

import json

import pytest

from group_coordinator.codecs import events
from group_coordinator.codecs.events import InvalidEventError
from tests.unit.codecs.sent_events import commit, refused


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("groupId", '"groupId": "g"'),
        ("partitionIndex", '"partitionIndex": 0'),
        ("version", '"version": 8'),
        ("name", '"name": "orders"'),
    ],
)
def test_no_key_may_come_twice(key: str, entry: str) -> None:
    text = json.dumps(commit()).replace(entry, f"{entry} , {entry}")

    fault = refused(text.encode())

    assert fault.reason == f"{key}: appears twice"
    assert fault.correlation_id == "c-17"


def test_escapes_and_colons_are_no_duplicates() -> None:
    value = json.dumps(commit()).encode()

    for written in (rb'"\u0067"', b'":g:"', rb'"\":"', '"é"'.encode()):
        said = value.replace(b'"groupId": "g"', b'"groupId" :\t' + written)
        assert events.decode(said).request.group_id == json.loads(written)


@pytest.mark.parametrize("is_escaped", [True, False])
def test_a_text_has_as_many_bytes_as_kafka_can_write(is_escaped: bool) -> None:  # noqa: FBT001
    def heartbeat(member_id: str) -> bytes:
        body = {"groupId": "g", "generationId": 1, "memberId": member_id}
        event = {"api": "Heartbeat", "version": 4, "body": body}
        return json.dumps(event, ensure_ascii=is_escaped).encode()

    longest = "\u00fc" * 16_383 + "u"
    assert events.decode(heartbeat(longest)).request.member_id == longest

    with pytest.raises(InvalidEventError, match=r"body\.memberId = .* is longer than 32767 bytes"):
        events.decode(heartbeat(longest + "u"))
