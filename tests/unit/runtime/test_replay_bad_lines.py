"""Lines and events that are none, in the conversation of replay-events."""

from __future__ import annotations

import json

import pytest

from tests.unit.runtime.replay_lines import DONE, commit, event, replay, say, tombstone


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "not a line: JSON is malformed"),
        ("[]", "not a line: Expected `object`, got `array`"),
        ("{}", "a line needs `at` or `describe`"),
        ('{"event": {}}', "a line needs `at` or `describe`"),
        ('{"describe": "g", "event": {}}', "an event, topics and acls need `at`"),
        ('{"at": -1}', "not a line: Expected `int` >= 0"),
        ('{"at": 1.5}', "not a line: Expected `int`, got `float`"),
        ('{"at": 1, "evnet": {}}', "not a line: Object contains unknown field `evnet`"),
        ('{"at": 1, "topics": [{"name": "t"}]}', "not a line: Object missing required field"),
        ('{"at": 1, "event": ' + "[" * 5_000 + "}", "not a line: "),
        ("\udcff", "not a line: "),
    ],
    ids=lambda text: text[:20].encode(errors="replace").decode(),
)
def test_a_line_that_is_none_is_told(text: str, message: str) -> None:
    error, done = replay().line(text)

    assert (error["kind"], done) == ("error", DONE)
    assert error["message"].startswith(message)


def test_an_event_that_is_none_is_a_dead_letter_and_is_answered() -> None:
    conversation = replay()

    outputs = say(conversation, {"at": 5, "event": event("Heartbeat", 0, "c-1", groupid="g")})

    reason = "body: Object contains unknown field `groupid`"
    assert [output["kind"] for output in outputs] == ["response", "deadLetter"]
    assert outputs[0]["body"] == {"errorCode": 42, "errorMessage": reason}
    assert outputs[1]["reason"] == reason
    unanswered = say(conversation, {"at": 5, "event": {"api": "Heartbeat"}})
    assert [output["kind"] for output in unanswered] == ["deadLetter"]


def test_a_version_that_is_not_spoken_is_answered_only() -> None:
    conversation = replay()

    asked = say(conversation, {"at": 5, "event": event("Heartbeat", 5, "c-1", groupId="g")})
    assert [(o["kind"], o["groupId"], o["body"]["errorCode"]) for o in asked] == [
        ("response", "g", 35)
    ]
    silent = say(conversation, {"at": 5, "event": event("Heartbeat", 5, groupId="g")})
    assert [output["kind"] for output in silent] == ["deadLetter"]


def test_a_dead_letter_does_not_stop_the_clock() -> None:
    conversation = replay("offsets.retention.ms=1000", "offsets.retention.check.interval.ms=1000")
    say(conversation, {"at": 0, "event": commit("g")})

    outputs = say(conversation, {"at": 1_000, "event": {}})

    assert outputs[0] == tombstone("g", 1_000, "offset-expired")
    assert outputs[-1]["kind"] == "deadLetter"


def test_an_event_that_is_too_long_is_not_read() -> None:
    line = {"at": 1, "event": commit("g", correlation_id="c-1")}
    size = len(json.dumps(line["event"]))
    assert [output["kind"] for output in say(replay(f"event.max.bytes={size}"), line)] == [
        "record",
        "response",
    ]

    (letter,) = say(replay(f"event.max.bytes={size - 1}"), line)

    assert (letter["kind"], letter["correlationId"]) == ("deadLetter", None)
    assert letter["reason"] == (
        f"the event has {size} bytes: more than event.max.bytes = {size - 1}"
    )
