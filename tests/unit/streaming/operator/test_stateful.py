from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from group_coordinator.runtime.group_call import STATE_VERSION, UnknownStateVersionError
from group_coordinator.runtime.outputs import EVENT, HEADER
from group_coordinator.streaming.operator.output_rows import OutputRows
from group_coordinator.streaming.operator.worker_function import STATE, update_state
from tests.support.group_updates import update_context
from tests.support.operator_rows import lines_in

MINUTE_MS = 60_000
CONTEXT = update_context("offsets.retention.minutes=1", "offsets.retention.check.interval.ms=10000")


class Operator:
    """One group's calls: as in Spark, the next one finds the state that the last one wrote, and not its timer."""

    def __init__(self) -> None:
        self.context = CONTEXT
        self.stored: tuple[int, bytes] | None = None
        self.offset = 0
        self.state = self.state_at(0, has_timed_out=False)

    def events(self, at_ms: int, *bodies: dict[str, Any]) -> list[str]:
        frame = pd.DataFrame({"group_id": "g", "event": [self.event(at_ms, b) for b in bodies]})
        return self.call([frame], self.state_at(at_ms, has_timed_out=False))

    def timer(self, at_ms: int) -> list[str]:
        frame = pd.DataFrame(columns=["group_id", "event"])
        return self.call([frame], self.state_at(at_ms, has_timed_out=True))

    @property
    def timeout_ms(self) -> int:
        """Until the batch after which the timer fires; negative: none was set."""
        timestamp: int = self.outcome["timeoutTimestamp"]
        return timestamp - self.state.getCurrentProcessingTimeMs()

    @property
    def wrote(self) -> bool:
        return bool(self.outcome["updated"] or self.outcome["removed"])

    @property
    def outcome(self) -> dict[str, Any]:
        """What Spark gets to hear of the last call."""
        outcome: dict[str, Any] = json.loads(self.state.json())
        return outcome

    def call(self, frames: list[pd.DataFrame], state: GroupState) -> list[str]:
        self.state = state
        outputs = update_state(("g",), frames, state, self.context, OutputRows())
        if self.outcome["removed"]:
            self.stored = None
        elif self.outcome["updated"]:
            self.stored = tuple(state.get)  # type: ignore[assignment]
        return lines_in(Row(**row) for frame in outputs for row in frame.to_dict("records"))

    def event(self, at_ms: int, body: dict[str, Any]) -> bytes:
        self.offset += 1
        value = json.dumps(body).encode()
        return HEADER.pack(0, self.offset, at_ms, EVENT, len(value)) + value

    def state_at(self, at_ms: int, *, has_timed_out: bool) -> GroupState:
        return GroupState(
            optionalValue=Row(*self.stored) if self.stored else None,  # type: ignore[arg-type]
            batchProcessingTimeMs=at_ms,
            eventTimeWatermarkMs=-1,
            timeoutConf=GroupStateTimeout.ProcessingTimeTimeout,
            hasTimedOut=has_timed_out,
            watermarkPresent=False,
            defined=self.stored is not None,
            updated=False,
            removed=False,
            timeoutTimestamp=-1,
            keyAsUnsafe=b"",
            valueSchema=STATE,
        )


def commit(offset: int = 42) -> dict[str, Any]:
    partition = {"partitionIndex": 0, "committedOffset": offset, "committedMetadata": None}
    body = {
        "groupId": "g",
        "generationIdOrMemberEpoch": -1,
        "memberId": "",
        "topics": [{"name": "orders", "partitions": [partition]}],
    }
    return {"api": "OffsetCommit", "version": 8, "correlationId": None, "body": body}


def fetch() -> dict[str, Any]:
    body = {"groupId": "g", "topics": None}
    return {"api": "OffsetFetch", "version": 7, "correlationId": "c", "body": body}


def test_events_update_the_state_and_arm_the_timer() -> None:
    operator = Operator()

    lines = operator.events(3_000, commit())

    assert [line[0] for line in lines] == ["L"]
    assert operator.stored is not None
    assert operator.stored[0] == STATE_VERSION
    # Due at 70,000; Spark calls in the first batch that is later than the timeout.
    assert operator.timeout_ms == 70_000 + 1_000 - 1 - 3_000


def test_a_far_deadline_is_looked_at_again_after_a_day() -> None:
    """Settings may have changed by then."""
    operator = Operator()
    a_week = replace(CONTEXT.config, offsets_retention_minutes=7 * 24 * 60)
    operator.context = replace(CONTEXT, config=a_week)

    operator.events(3_000, commit())
    assert operator.timeout_ms == 24 * 60 * MINUTE_MS
    operator.timer(3_000 + 24 * 60 * MINUTE_MS + 1)
    assert operator.timeout_ms == 24 * 60 * MINUTE_MS


def test_events_that_change_nothing_leave_state_and_timer_as_they_are() -> None:
    operator = Operator()
    operator.events(3_000, commit())

    lines = operator.events(3_000, fetch())

    assert [line[0] for line in lines] == ["R"]
    assert not operator.wrote


def test_events_for_a_group_that_is_not_there_write_nothing() -> None:
    operator = Operator()
    assert [line[0] for line in operator.events(4_000, fetch())] == ["R"]
    assert not operator.wrote


def test_a_timer_that_comes_too_early_is_armed_again() -> None:
    operator = Operator()
    operator.events(3_000, commit())

    assert operator.timer(70_999) == []

    assert operator.wrote
    assert operator.timeout_ms == 1


def test_the_last_deadline_removes_the_state() -> None:
    operator = Operator()
    operator.events(3_000, commit())

    lines = operator.timer(71_000)

    assert [json.loads(line[1:])["reason"] for line in lines] == ["offset-expired", "group-expired"]
    assert [json.loads(line[1:])["event_time_ms"] for line in lines] == [70_000, 70_000]
    assert operator.stored is None


def test_a_deadline_waits_while_timers_hold() -> None:
    operator = Operator()
    operator.context = replace(CONTEXT, timers_suspended=True)
    operator.events(3_000, commit())

    assert operator.timer(71_000) == []
    assert operator.timeout_ms == 5_000
    assert operator.events(89_999, commit(43)) != []

    assert operator.stored is not None
    operator.context = CONTEXT
    operator.timer(160_000)
    assert operator.stored is None


def test_several_frames_are_one_call() -> None:
    operator = Operator()
    frames = [
        pd.DataFrame({"group_id": "g", "event": [operator.event(1_000, commit(offset))]})
        for offset in (1, 2)
    ]
    lines = operator.call(frames[::-1], operator.state_at(1_000, has_timed_out=False))

    assert [json.loads(line[1:])["offset"] for line in lines] == [1, 2]


def test_the_state_of_a_later_version_is_refused() -> None:
    operator = Operator()
    operator.stored = (STATE_VERSION + 1, b"")
    with pytest.raises(UnknownStateVersionError, match="state version 2, this program knows 1"):
        operator.events(1_000, commit())
