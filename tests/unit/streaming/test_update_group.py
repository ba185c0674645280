from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest

from group_coordinator import settings
from group_coordinator.codecs import snapshots
from group_coordinator.core import timers
from group_coordinator.core.group import Group
from group_coordinator.core.handlers import offset_commit
from group_coordinator.core.states import ClassicState
from group_coordinator.streaming import output_lines
from group_coordinator.streaming.packing import EventRow
from group_coordinator.streaming.update_group import (
    GroupUpdate,
    UpdateContext,
    update_group,
)

Json = dict[str, Any]

CONTEXT = UpdateContext(
    settings.load(
        overrides=["offsets.retention.ms=60000", "offsets.retention.check.interval.ms=1000"]
    ).coordinator,
    "group-events",
    timer_slack_ms=1_000,
    timers_hold=False,
)
HOLDING = replace(CONTEXT, timers_hold=True)
COMMIT: Json = {
    "api": "OffsetCommit",
    "version": 8,
    "correlationId": "c-1",
    "principal": "User:billing",
    "body": {
        "groupId": "g",
        "topics": [
            {"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}
        ],
    },
}
DELETE: Json = {"api": "DeleteGroups", "version": 1, "body": {"groupsNames": ["g"]}}
FETCH: Json = {
    "api": "OffsetFetch",
    "version": 7,
    "correlationId": "c-2",
    "body": {"groupId": "g", "topics": None},
}
JOIN: Json = {
    "api": "JoinGroup",
    "version": 3,
    "correlationId": "c-3",
    "clientId": "billing",
    "body": {
        "groupId": "g",
        "memberId": "",
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 60_000,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": "AAAAAAABAAZvcmRlcnP/////"}],
    },
}
MEMBER_ID = "billing-d87c5322-92ef-5b61-9b1a-34c3daf23e5b"


def row(
    event: Json | bytes | None, at_ms: int, offset: int = 0, key_fault: str | None = None
) -> EventRow:
    value = json.dumps(event).encode() if isinstance(event, dict) else event
    return EventRow(at_ms, 3, offset, key_fault, value)


def call(
    *rows: EventRow, at_ms: int, state: bytes | None = None, context: UpdateContext = CONTEXT
) -> GroupUpdate:
    return update_group("g", state, rows, at_ms, context)


def lines(update: GroupUpdate) -> list[tuple[str, Json]]:
    return [(line[0], json.loads(line[1:])) for line in update.lines]


def tags(update: GroupUpdate) -> str:
    return "".join(line[0] for line in update.lines)


def group_of(update: GroupUpdate) -> Group:
    assert update.state is not None
    return snapshots.load("g", update.state)


def committed() -> GroupUpdate:
    """A simple group since 1,000, whose offset expires at 61,000."""
    return call(row(COMMIT, 1_000), at_ms=1_500)


def stable() -> GroupUpdate:
    """A group of one member since 3,000, whose session ends at 13,000."""
    sync = {
        "api": "SyncGroup",
        "version": 3,
        "body": {"groupId": "g", "generationId": 1, "memberId": MEMBER_ID, "assignments": []},
    }
    return call(row(JOIN, 0, 0), row(sync, 3_000, 1), at_ms=3_000)


def alive(at_ms: int, offset: int = 2) -> EventRow:
    body = {"groupId": "g", "generationId": 1, "memberId": MEMBER_ID}
    event = {"api": "Heartbeat", "version": 3, "correlationId": "c-4", "body": body}
    return row(event, at_ms, offset)


# What comes out.


def test_a_request_gives_its_records_and_its_response() -> None:
    update = committed()

    log, response = update.lines
    assert log == (
        'L{"group_id":"g","record_type":1,'
        '"key":{"type":1,"data":{"group":"g","topic":"orders","partition":0}},'
        '"value":{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000}},'
        '"topic":"orders","partition":0,"member_id":null,"offset":42,"reason":"offset-commit",'
        '"principal":"User:billing","event_time_ms":1000,"source_partition":3,"source_offset":0,"seq":0}'
    )
    assert response == (
        'R{"id":"group-events-3-0","correlationId":"c-1","api":"OffsetCommit","version":8,"groupId":"g",'
        '"at":1000,"body":{"throttleTimeMs":0,"topics":[{"name":"orders","partitions":'
        '[{"partitionIndex":0,"errorCode":0}]}]}}'
    )
    assert update.deadline_ms == 61_000
    assert update.changed


def test_who_does_not_ask_is_not_answered() -> None:
    assert tags(call(row(COMMIT | {"correlationId": None}, 1_000), at_ms=1_500)) == "L"


def test_a_deadline_has_no_source() -> None:
    update = call(at_ms=62_000, state=committed().state)

    assert [
        (tag, line["reason"], line["event_time_ms"], line["source_offset"], line["seq"])
        for tag, line in lines(update)
    ] == [("L", "offset-expired", 61_000, None, 0), ("L", "group-expired", 61_000, None, 1)]


def test_a_parked_request_is_answered_by_a_later_call() -> None:
    parked = call(row(JOIN, 0), at_ms=500)
    assert tags(parked) == "L"

    ((tag, answer),) = lines(call(at_ms=4_000, state=parked.state))

    assert (tag, answer["id"], answer["correlationId"]) == ("R", "group-events-3-0", "c-3")
    assert (answer["at"], answer["body"]["memberId"]) == (3_000, MEMBER_ID)


def test_the_lines_of_a_call_are_counted() -> None:
    update = call(row(COMMIT, 1, 0), row(DELETE, 2, 1), at_ms=10)

    assert [line.get("seq") for _, line in lines(update)] == [0, None, 2, 3]
    assert tags(update) == "LRLL"


# Bad input.


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
        (row(b"", 2_000, 7), "not JSON: Input data was truncated"),
        (row(b"offset", 2_000, 7), "not JSON: JSON is malformed: invalid character (byte 0)"),
        (row(b"[]", 2_000, 7), "event: Expected `object`, got `array`"),
        (row(b"{}", 2_000, 7), "event: Object missing required field `api`"),
        (row({"api": "Offset", "version": 0}, 2_000, 7), "api = Offset: unknown"),
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
    assert update == (before.state, update.texts, before.deadline_ms, False)


def test_a_dead_letter_keeps_its_own_time_whatever_came_before_it() -> None:
    # Keyless events of all partitions are in one call, in the order of the partitions.
    update = call(row(COMMIT, 4_000, 7), row(b"nope", 2_000, 8), at_ms=4_500)

    assert [line["event_time_ms"] for tag, line in lines(update) if tag == "D"] == [2_000]


def test_a_dead_letter_to_the_letter() -> None:
    (line,) = call(row(b"nope", 2_000, 7), at_ms=2_500).lines

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
    assert update == (before.state, update.texts, before.deadline_ms, False)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (COMMIT | {"version": 11}, "version = 11: OffsetCommit is supported from 1 to 10"),
    ],
)
def test_a_version_that_we_do_not_speak_is_a_fair_question(event: Json, message: str) -> None:
    before = committed()

    update = call(row(event, 2_000), at_ms=2_500, state=before.state)

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


def test_many_lines_come_in_several_texts_of_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [row(COMMIT, 1, offset) for offset in range(10)]
    whole = call(*events, at_ms=10)
    assert len(list(whole.texts)) == 1

    monkeypatch.setattr(output_lines, "_PIECE_BYTES", 700)
    cut = call(*events, at_ms=10)

    assert [len(text.split("\n")) for text in cut.texts] == [3, 3, 3, 3, 3, 3, 2]
    assert cut.lines == whole.lines


def test_bad_input_to_no_group_makes_none() -> None:
    update = call(row(b"nope", 2_000), at_ms=2_500)
    assert (update.state, update.deadline_ms) == (None, None)
    assert not call(row(b"nope", 2_000), at_ms=2_500).changed


def test_the_events_beside_bad_input_are_taken() -> None:
    update = call(row(b"nope", 1, 0), row(COMMIT, 2, 1), row(b"nope", 3, 2), at_ms=10)

    assert tags(update) == "DLRD"


# Defects.


def broken(*_: object) -> None:
    raise ZeroDivisionError("planted")


def test_a_defect_is_quarantined_with_its_event_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stable()
    monkeypatch.setattr(offset_commit, "decide", broken)

    update = call(
        row(COMMIT, 4_000, 7),
        row(FETCH, 4_000, 8),
        alive(4_000, 9),
        at_ms=4_500,
        state=before.state,
    )

    (_, letter), (_, fetched), (_, beat) = lines(update)
    assert tags(update) == "DRR"
    assert letter["reason"] == "defect: ZeroDivisionError: planted"
    assert (letter["source_offset"], letter["event_time_ms"]) == (7, 4_000)
    assert b64decode(letter["value"]) == json.dumps(COMMIT).encode()
    assert (fetched["correlationId"], beat["correlationId"]) == ("c-2", "c-4")
    undisturbed = call(alive(4_000), at_ms=4_500, state=before.state)
    assert update.state == undisturbed.state


def test_a_defect_in_a_deadline_fires_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = stable()
    with monkeypatch.context() as planted:
        planted.setattr(timers, "fire", broken)
        first = call(at_ms=14_000, state=before.state)
        second = call(at_ms=20_000, state=first.state)

    assert lines(first) == [
        (
            "D",
            {
                "group_id": "g",
                "source_partition": None,
                "source_offset": None,
                "reason": "defect: ZeroDivisionError: planted",
                "value": None,
                "event_time_ms": 13_000,
            },
        )
    ]
    assert (second.lines, second.changed) == ([], False)
    assert tags(call(alive(21_000), at_ms=21_500, state=second.state)) == "R"


def test_a_defect_in_a_sweep_does_not_fire_again_before_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = committed()
    with monkeypatch.context() as planted:
        planted.setattr(timers, "fire", broken)
        first = call(at_ms=62_000, state=before.state)
        second = call(at_ms=62_999, state=first.state)
    mended = call(at_ms=63_000, state=second.state)

    assert (tags(first), first.deadline_ms) == ("D", 62_000)
    assert (second.lines, second.changed) == ([], False)
    assert (tags(mended), mended.state) == ("LL", None)


def test_a_defect_in_a_deadline_leaves_the_event_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "fire", broken)

    update = call(row(FETCH, 61_500), at_ms=61_500, state=committed().state)

    assert tags(update) == "DR"
    assert lines(update)[1][1]["body"]["topics"][0]["name"] == "orders"


# Time.


@pytest.mark.parametrize(
    ("batch_time_ms", "fired"), [(13_999, False), (14_000, True), (14_001, True)]
)
def test_a_deadline_waits_for_events_on_their_way(batch_time_ms: int, *, fired: bool) -> None:
    before = stable()
    assert before.deadline_ms == 13_000

    update = call(at_ms=batch_time_ms, state=before.state)

    assert update.changed is fired
    assert [line["event_time_ms"] for _, line in lines(update)] == [13_000, 13_000] * fired


@pytest.mark.parametrize(("sent_ms", "error"), [(12_999, 0), (13_000, 25), (13_001, 25)])
def test_an_event_of_the_time_before_a_deadline_comes_before_it(sent_ms: int, error: int) -> None:
    update = call(alive(sent_ms), at_ms=14_500, state=stable().state)

    assert lines(update)[-1][1]["body"]["errorCode"] == error


def test_every_deadline_fires_at_its_own_time_however_late_the_batch() -> None:
    update = call(row(COMMIT, 3_000, 9), at_ms=1_000_000, state=stable().state)

    told = [(line.get("reason"), line.get("event_time_ms")) for _, line in lines(update)]
    assert told == [(None, None), ("session-timeout", 13_000), ("group-expired", 13_000)]


def test_an_event_is_not_later_than_its_batch() -> None:
    ((_, log), (_, answer)) = lines(call(row(COMMIT, 9_000), at_ms=2_000))

    assert (log["event_time_ms"], answer["at"]) == (2_000, 2_000)


def test_an_event_is_not_earlier_than_the_groups_clock() -> None:
    ((_, log), (_, answer)) = lines(call(row(COMMIT, 500), at_ms=2_000, state=committed().state))

    assert (log["event_time_ms"], answer["at"]) == (1_000, 1_000)


def test_a_deadline_that_an_event_makes_due_at_once_does_not_wait() -> None:
    config = replace(CONTEXT.config, group_initial_rebalance_delay_ms=0)

    update = call(row(JOIN, 1_000), at_ms=1_000, context=replace(HOLDING, config=config))

    assert tags(update) == "LR"
    assert lines(update)[1][1]["at"] == 1_000


# While timers hold.


def test_while_timers_hold_no_deadline_fires_by_itself() -> None:
    before = stable()

    held = call(at_ms=1_000_000, state=before.state, context=HOLDING)
    assert (held.lines, held.deadline_ms, held.changed) == ([], 13_000, False)

    assert [
        line["event_time_ms"] for _, line in lines(call(at_ms=1_000_000, state=held.state))
    ] == [
        13_000,
        13_000,
    ]


def test_while_timers_hold_the_events_make_time_pass() -> None:
    update = call(alive(13_000), at_ms=1_000_000, state=stable().state, context=HOLDING)

    (_, log), _, (_, answer) = lines(update)
    assert (log["reason"], log["event_time_ms"]) == ("session-timeout", 13_000)
    assert answer["body"]["errorCode"] == 25


def test_a_member_that_was_alive_survives_the_backlog() -> None:
    state = stable().state
    for offset, at_ms in enumerate((12_000, 21_000, 30_000), 2):
        update = call(alive(at_ms, offset), at_ms=1_000_000, state=state, context=HOLDING)
        assert lines(update)[0][1]["body"]["errorCode"] == 0
        state = update.state
    assert state is not None

    membership = snapshots.load("g", state).membership
    assert membership is not None
    assert membership.state is ClassicState.STABLE


# The state.


def test_where_nothing_happens_nothing_is_written() -> None:
    before = committed()

    update = call(at_ms=5_000, state=before.state)

    assert update == (before.state, update.texts, 61_000, False)
    assert update.lines == []


def test_a_heartbeat_is_written_for_its_deadline() -> None:
    update = call(alive(4_000), at_ms=4_500, state=stable().state)

    assert update.changed
    assert update.deadline_ms == 14_000


def test_a_deleted_group_is_removed() -> None:
    update = call(row(DELETE, 2_000), at_ms=2_500, state=committed().state)

    assert (update.state, update.deadline_ms, update.changed) == (None, None, True)


def test_an_expired_group_is_removed() -> None:
    update = call(at_ms=62_000, state=committed().state)

    assert (update.state, update.deadline_ms, update.changed) == (None, None, True)


def test_a_group_that_comes_and_goes_in_one_call_leaves_nothing() -> None:
    update = call(row(COMMIT, 1_000, 0), row(DELETE, 1_000, 1), at_ms=1_500)

    assert tags(update) == "LRLL"
    assert (update.state, update.deadline_ms, update.changed) == (None, None, False)


def test_a_question_about_no_group_leaves_nothing() -> None:
    update = call(row(FETCH, 1_000), at_ms=1_500)

    assert tags(update) == "R"
    assert (update.state, update.deadline_ms, update.changed) == (None, None, False)


def test_what_is_known_of_topics_is_kept_without_a_group() -> None:
    topic = {"name": "orders", "topicId": "4ksO1bcLSgCStYJnTlCVLg", "numPartitions": 1}
    event = {
        "api": "TopicMetadata",
        "version": 0,
        "body": {"groupId": "g", "topics": [topic], "deletedTopics": []},
    }

    update = call(row(event, 1_000), at_ms=1_500)

    assert (update.lines, update.deadline_ms, update.changed) == ([], 61_000, True)
    assert group_of(update).partition_exists("orders", 0)
    assert not group_of(update).partition_exists("orders", 1)
    forgotten = call(at_ms=62_000, state=update.state)
    assert forgotten == (None, forgotten.texts, None, True)
    assert forgotten.lines == []


def test_other_settings_count_from_the_next_call_on() -> None:
    shorter = replace(CONTEXT, config=replace(CONTEXT.config, offsets_retention_ms=20_000))

    update = call(row(FETCH, 40_000, 1), at_ms=40_000, state=committed().state, context=shorter)

    assert [line.get("reason") for tag, line in lines(update)] == [
        "offset-expired",
        "group-expired",
        None,
    ]


def test_a_tick_lets_time_pass() -> None:
    tick = {"api": "Tick", "version": 0, "body": {"groupId": "g"}}

    update = call(row(tick, 61_000), at_ms=61_000, state=committed().state)

    assert tags(update) == "LL"
    assert update.state is None
