"""What happens to an event is the same whoever drives the state machine."""

from __future__ import annotations

import json

import pytest

from group_coordinator.codecs import events
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.event_handling import (
    InvalidEventResult,
    event_id_at,
    result_of_invalid,
    take,
)
from group_coordinator.settings import load
from group_coordinator.testing import GroupDriver
from tests.unit.runtime.group_updates import Json, call, lines, row
from tests.unit.runtime.replay_lines import commit, event, join, replay, say

CONFIG = load().coordinator


def decoded(content: Json) -> events.Event:
    return events.decode(json.dumps(content).encode())


def test_the_coordinates_of_an_event_are_its_id() -> None:
    assert event_id_at("group-events", 3, 1742) == "group-events-3-1742"


def test_an_event_is_answered_at_its_time_to_its_sender() -> None:
    group = Group("g")

    step = take(group, decoded(commit("g", 42, "c-1")), "e-0-7", now_ms=1_000, config=CONFIG)

    (reply,) = step.replies
    assert (step.at_ms, group.clock_ms) == (1_000, 1_000)
    assert group.offsets["orders"][0].offset == 42
    assert reply.ticket == ReplyAddress("e-0-7", "c-1", 8)


@pytest.mark.parametrize(
    ("content", "asks"),
    [
        (join("g"), True),
        (join("g", "m1"), False),
        (event("ConsumerGroupHeartbeat", 0, groupId="g", memberId="", memberEpoch=0), True),
        (event("ConsumerGroupHeartbeat", 1, groupId="g", memberId="m1", memberEpoch=0), False),
        (event("Heartbeat", 4, groupId="g", memberId="m1", generationId=1), False),
        (commit("g"), False),
    ],
)
def test_an_id_is_made_for_a_member_without_one_only(content: Json, *, asks: bool) -> None:
    made: list[str] = []

    def new_id(event_id: str) -> str:
        made.append(event_id)
        return "00000000-0000-0000-0000-000000000001"

    take(Group("g"), decoded(content), "e-0-7", now_ms=0, config=CONFIG, new_id=new_id)

    assert set(made) == {"e-0-7"} if asks else made == []


@pytest.mark.parametrize(
    ("code", "correlation_id", "is_answered", "is_dead_letter"),
    [
        (ErrorCode.INVALID_REQUEST, None, False, True),
        (ErrorCode.INVALID_REQUEST, "c-1", True, True),
        (ErrorCode.MESSAGE_TOO_LARGE, None, False, True),
        (ErrorCode.UNSUPPORTED_VERSION, None, False, True),
        (ErrorCode.UNSUPPORTED_VERSION, "c-1", True, False),
    ],
)
def test_bad_input_is_answered_where_somebody_asks_and_kept_unless_the_question_was_fair(
    code: ErrorCode, correlation_id: str | None, *, is_answered: bool, is_dead_letter: bool
) -> None:
    refusal = InvalidEventResult(is_answered=is_answered, is_dead_letter=is_dead_letter)
    assert (
        result_of_invalid(InvalidEventError("bad", code, correlation_id=correlation_id)) == refusal
    )


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (commit("g", 42, "c-1"), ["record", "response"]),
        (commit("g", 42), ["record"]),
        (event("Heartbeat", 4, "c-1", groupId="g", epoch=1), ["response", "deadLetter"]),
        (event("Heartbeat", 4, groupId="g", epoch=1), ["deadLetter"]),
        (event("Heartbeat", 5, "c-1", groupId="g"), ["response"]),
        (event("Heartbeat", 5, groupId="g"), ["deadLetter"]),
    ],
)
def test_the_job_and_replay_events_do_the_same_with_an_event(
    content: Json, outcome: list[str]
) -> None:
    by_tag = {"L": "record", "R": "response", "D": "deadLetter"}

    of_the_job = lines(call(row(content, 1_000), at_ms=1_000))
    of_replay = say(replay(), {"at": 1_000, "event": content})

    assert [by_tag[tag] for tag, _ in of_the_job] == outcome
    assert [output["kind"] for output in of_replay] == outcome
    answers = [line | {"id": ""} for tag, line in of_the_job if tag == "R"]
    assert answers == [
        {name: value for name, value in (output | {"id": ""}).items() if name != "kind"}
        for output in of_replay
        if output["kind"] == "response"
    ]


def test_with_every_host_a_deadline_comes_before_an_event_of_its_time() -> None:
    driver = GroupDriver(
        "g", offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000
    )
    conversation = replay("offsets.retention.ms=60000", "offsets.retention.check.interval.ms=1000")
    driver.commit({"orders": {0: 42}})
    say(conversation, {"at": 0, "event": commit("g")})
    committed = call(row(commit("g"), 0), at_ms=0)

    driven = driver.at(60_000)
    replayed = say(conversation, {"at": 60_000, "event": commit("g")})
    of_the_job = lines(call(row(commit("g"), 60_000), at_ms=60_000, state=committed.state))

    expected = ["offset-expired", "group-expired"]
    assert [record.reason.value for record in driven.records] == expected
    assert [output["reason"] for output in replayed] == [*expected, "offset-commit"]
    assert [line["reason"] for _, line in of_the_job] == [*expected, "offset-commit"]
