"""Bad input becomes a dead letter, is answered where somebody asked, and leaves the group as it was."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace

import pytest

from group_coordinator.runtime.outputs import EventRow
from tests.support.group_updates import lines_of
from tests.unit.runtime.group_updates import COMMIT, CONTEXT, call, committed, lines, row, tags

NO_CORRELATION = {"correlationId": None}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row(COMMIT | NO_CORRELATION, 2_000, 7, "key is null"), "key is null"),
        (row(COMMIT | NO_CORRELATION, 2_000, 7, "key is not UTF-8"), "key is not UTF-8"),
        (
            row(COMMIT | NO_CORRELATION | {"body": COMMIT["body"] | {"groupId": "h"}}, 2_000, 7),
            "groupId = 'h': differs from the record's key",
        ),
        (row(None, 2_000, 7), "the value is null"),
        (row(b"offset", 2_000, 7), "not JSON: JSON is malformed: invalid character (byte 0)"),
        (
            row(COMMIT | NO_CORRELATION | {"version": 11}, 2_000, 7),
            "version = 11: OffsetCommit is supported from 1 to 10",
        ),
    ],
)
def test_bad_input_becomes_a_dead_letter_and_nothing_else(bad: EventRow, reason: str) -> None:
    before = committed()

    update = call(bad, at_ms=2_500, state=before.state)

    ((tag, letter),) = lines(update)
    value = letter.pop("value")
    assert (tag, letter) == (
        "D",
        {
            "group_id": "g",
            "source_partition": 3,
            "source_offset": 7,
            "reason": reason,
            "event_time_ms": 2_000,
        },
    )
    assert (None if value is None else b64decode(value)) == bad.value
    assert (update.state, update.deadline_ms) == (before.state, before.deadline_ms)


def test_a_dead_letter_keeps_its_own_time_whatever_came_before_it() -> None:
    # Keyless events of all partitions are in one call, in the order of the partitions.
    update = call(row(COMMIT, 4_000, 7), row(b"nope", 2_000, 8), at_ms=4_500)

    assert [line["event_time_ms"] for tag, line in lines(update) if tag == "D"] == [2_000]


def test_a_dead_letter_to_the_letter() -> None:
    (line,) = lines_of(call(row(b"nope", 2_000, 7), at_ms=2_500))

    assert line == (
        'D{"group_id":"g","source_partition":3,"source_offset":7,'
        '"reason":"not JSON: JSON is malformed: invalid character (byte 4)",'
        '"value":"bm9wZQ==","event_time_ms":2000}'
    )


def test_who_asks_badly_is_told_and_the_letter_is_kept() -> None:
    before = committed()

    update = call(row(COMMIT | {"api": "Offset"}, 2_000, 7), at_ms=2_500, state=before.state)

    (_, answer), (_, letter) = lines(update)
    assert tags(update) == "RD"
    assert answer["id"] == "group-events-3-7"
    assert answer["body"] == {"errorCode": 42, "errorMessage": "api = Offset: unknown"}
    assert letter["reason"] == "api = Offset: unknown"
    assert (update.state, update.deadline_ms) == (before.state, before.deadline_ms)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row(COMMIT, 2_000, 7, "the record's key is null"), "the record's key is null"),
        (
            row(COMMIT | {"body": COMMIT["body"] | {"groupId": "h"}}, 2_000, 7),
            "groupId = 'h': differs from the record's key",
        ),
    ],
)
def test_who_asks_under_a_wrong_key_is_told(bad: EventRow, reason: str) -> None:
    before = committed()

    update = call(bad, at_ms=2_500, state=before.state)

    (_, answer), (_, letter) = lines(update)
    assert tags(update) == "RD"
    assert answer == {
        "id": "group-events-3-7",
        "correlationId": COMMIT["correlationId"],
        "api": "OffsetCommit",
        "version": COMMIT["version"],
        "groupId": "g",
        "at": 2_000,
        "body": {"errorCode": 42, "errorMessage": reason},
    }
    assert letter["reason"] == reason
    assert update.state == before.state


def test_a_version_that_we_do_not_speak_is_a_fair_question() -> None:
    before = committed()

    update = call(row(COMMIT | {"version": 11}, 2_000), at_ms=2_500, state=before.state)

    message = "version = 11: OffsetCommit is supported from 1 to 10"
    ((tag, answer),) = lines(update)
    assert (tag, answer["body"]) == ("R", {"errorCode": 35, "errorMessage": message})
    assert update.state == before.state


def test_an_oversized_text_is_a_dead_letter_too() -> None:
    partition = {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": "x" * 1_000_000}
    topics = [{"name": "orders", "partitions": [partition]}]
    event = COMMIT | {"body": {"groupId": "g", "topics": topics}}

    update = call(row(event, 2_000), at_ms=2_500)

    (_, answer), (_, letter) = lines(update)
    assert tags(update) == "RD"
    assert answer["body"]["errorCode"] == 42
    assert letter["reason"].startswith(
        'body.topics[0].partitions[0].committedMetadata = "xxxxxxxxxxxxxxxxxxxx'
    )
    assert len(letter["reason"]) < 300
    assert b64decode(letter["value"]) == json.dumps(event).encode()


def sized(size: int) -> bytes:
    """A commit of exactly so many bytes."""
    return json.dumps(COMMIT).encode().ljust(size)


@pytest.mark.parametrize("size", [999, 1_000])
def test_an_event_up_to_the_limit_is_taken(size: int) -> None:
    config = replace(CONTEXT.config, event_max_bytes=1_000)

    update = call(row(sized(size), 1), at_ms=10, context=replace(CONTEXT, config=config))

    assert tags(update) == "LR"


@pytest.mark.parametrize(("value", "cut_from"), [(sized(1_001), None), (sized(1_000), 1_001)])
def test_a_longer_event_is_a_dead_letter_and_is_not_read(
    value: bytes, cut_from: int | None
) -> None:
    config = replace(CONTEXT.config, event_max_bytes=1_000)
    event = EventRow(1, 3, 7, None, value, cut_from)

    update = call(event, at_ms=10, context=replace(CONTEXT, config=config))

    ((tag, letter),) = lines(update)
    assert (tag, letter["source_partition"], letter["source_offset"]) == ("D", 3, 7)
    assert letter["reason"] == "the event has 1001 bytes: more than event.max.bytes = 1000"
    assert b64decode(letter["value"]) == value
    assert update.state is None


def test_bad_input_to_no_group_makes_none() -> None:
    update = call(row(b"nope", 2_000), at_ms=2_500)
    assert (update.state, update.deadline_ms) == (None, None)


def test_the_events_beside_bad_input_are_taken() -> None:
    update = call(row(b"nope", 1, 0), row(COMMIT, 2, 1), row(b"nope", 3, 2), at_ms=10)

    assert tags(update) == "DLRD"
