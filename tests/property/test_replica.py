"""A gateway's replica gives the job's responses, whatever the batches, the reads, the outages and the delays between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from hypothesis import event, given
from hypothesis import strategies as st
from msgspec import json

import group_coordinator
from group_coordinator.core.deadlines import LateAnswers, Outage, Outages, noted
from group_coordinator.gateway.job.replica import ReadEvent, Replica
from group_coordinator.runtime.basis import Basis, DecidingSettings
from group_coordinator.runtime.outputs import EventRow, ResponseRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.property.lives import (
    CONFIG,
    CONTEXT,
    DELAY_MS,
    REQUESTS,
    SLACK_MS,
    TOPIC,
    Request,
    Script,
    scripts,
)
from tests.property.test_two_readers import consumer_scripts
from tests.support.group_updates import updated


def as_the_job(initial_delay_ms: int) -> UpdateContext:
    config = replace(CONFIG, group_initial_rebalance_delay_ms=initial_delay_ms)
    settings = DecidingSettings(
        program_version=group_coordinator.__version__,
        coordinator=msgspec.to_builtins(config),
        timer_slack_ms=SLACK_MS,
        response_max_bytes=1_000_000,
        announces_topics=False,
        checks_acls=False,
    )
    return replace(CONTEXT, config=config, basis=Basis(settings=settings, acls=None))


DELAYS_MS = st.sampled_from([0, 0, 0, 1, 20, SLACK_MS, 2_500, 9_000])
END_MS = 10_000_000


def _read_state(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    return "ReadState", 0, {}


def classic_scripts() -> st.SearchStrategy[Script]:
    return scripts(max_events=25, requests=st.one_of(REQUESTS, REQUESTS, st.just(_read_state)))


@st.composite
def asking_consumers(draw: st.DrawFn) -> Script:
    """Every fourth event or so is replaced by a ReadState."""
    script = draw(consumer_scripts())
    asked = draw(st.sets(st.integers(0, len(script.rows) - 1), max_size=4))
    for at in asked:
        value = json.encode(_state_event("c", {"groupId": "g"}))
        script.rows[at] = msgspec.structs.replace(script.rows[at], value=value)
    return script


def _state_event(correlation_id: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"api": "ReadState", "version": 0, "correlationId": correlation_id, "body": body}


@dataclass
class Job:
    """The operator, batch by batch, with the outages that it notes. Its clock is `ahead_ms` of the brokers'."""

    ahead_ms: int
    context: UpdateContext
    state: bytes | None = None
    outages: Outages = ()
    times_ms: list[int] = field(default_factory=list)
    late: LateAnswers = field(default_factory=LateAnswers)

    def batch(self, rows: list[EventRow], at_ms: int, silent_ms: int) -> list[bytes]:
        at_ms += self.ahead_ms
        before = self.times_ms[-2:]
        if len(before) == 2:
            wait = self.late.until(at_ms, before[1], before[0])
            self.outages = self.outages if wait is None else noted(self.outages, wait)
        if before and silent_ms:
            silence = Outage(max(before[-1], at_ms - silent_ms), at_ms, was_heard=False)
            self.outages = noted(self.outages, silence)
        self.times_ms.append(at_ms)
        context = replace(self.context, outages=self.outages)
        update = updated("g", self.state, rows, at_ms, context)
        self.state = update.state
        outputs = [output for piece in update.pieces for output in piece.outputs]
        return [output.value for output in outputs if isinstance(output, ResponseRow)]


@dataclass
class Scene:
    """What happens in which order: requests are sent, events are read, and batches are answered."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    script: Script

    def __post_init__(self) -> None:
        ahead_ms = self.draw(st.sampled_from([0, 400, SLACK_MS]))
        self.behind_ms = self.draw(st.sampled_from([0, SLACK_MS - ahead_ms]))
        self.now_s = 0.0
        self.answered: set[str] = set()
        self.replica = Replica(TOPIC, "c", self._is_waited_for, lambda: self.now_s)
        self.replica.ask("g")
        # Without a delay the join phase ends with the JoinGroup, also during an outage.
        self.job = Job(ahead_ms, as_the_job(self.draw(st.sampled_from([0, DELAY_MS]))))
        self.rows = list(self.script.rows)

    def play(self) -> None:
        for _, _, act in sorted(self._acts(), key=lambda act: act[:2]):
            act()

    def _acts(self) -> Iterator[tuple[int, int, Callable[[], None]]]:
        seen_ms = read_ms = 0
        visible: list[int] = []
        for at, row in enumerate(self.rows):
            yield row.timestamp_ms, 0, lambda at=at: self._send(at)  # type: ignore[misc]
            seen_ms = max(seen_ms, row.timestamp_ms + self.draw(DELAYS_MS))
            visible.append(seen_ms)
            read_ms = max(read_ms, seen_ms + self.draw(DELAYS_MS))
            yield read_ms, 1, lambda at=at, ms=read_ms: self._read(at, ms)  # type: ignore[misc]
        yield from self._batches(visible)

    def _batches(self, visible: list[int]) -> Iterator[tuple[int, int, Callable[[], None]]]:
        some = [ms + self.draw(DELAYS_MS) for ms in visible if self.draw(st.booleans())]
        begin, answered_ms = 0, 0
        for at_ms in [*sorted({*some}), END_MS]:
            end = sum(ms <= at_ms for ms in visible)
            answered_ms = max(answered_ms, at_ms + self.draw(DELAYS_MS))
            yield answered_ms, 2, self._batch(begin, end, at_ms)
            begin = end

    def _batch(self, begin: int, end: int, at_ms: int) -> Callable[[], None]:
        silent_ms = self.draw(st.sampled_from([0, 0, 0, 6_000]))

        def act() -> None:
            values = self.job.batch(self.rows[begin:end], at_ms, silent_ms)
            left = self.replica.left_of(values)
            self.answered |= {json.decode(value)["correlationId"] for value in left}

        return act

    def _is_waited_for(self, correlation_id: str, _value: bytes) -> bool:
        return correlation_id not in self.answered

    def _send(self, at: int) -> None:
        self.now_s = self.rows[at].timestamp_ms / 1000
        value = json.decode(self.rows[at].value or b"")
        if value["api"] != "ReadState":
            return
        asked = self.replica.ask("g") or self.replica.ask("g")
        correlation_id, body = (
            (asked.correlation_id, asked.body) if asked else ("x", {"groupId": "g"})
        )
        event_value = json.encode(_state_event(correlation_id, body))
        self.rows[at] = msgspec.structs.replace(self.rows[at], value=event_value)

    def _read(self, at: int, at_ms: int) -> None:
        self.replica.take_events([ReadEvent("g", self.rows[at])], at_ms - self.behind_ms)


def plays(script: Script, data: st.DataObject) -> None:
    scene = Scene(data.draw, script)
    scene.play()

    counts = scene.replica.counts
    event(f"answers: {min(counts['answers'], 5)}")
    assert (counts["different"], scene.replica.figures()["replica_open"]) == (0, 0)
    assert counts["equal"] == counts["answers"]


@given(script=classic_scripts(), data=st.data())
def test_a_classic_groups_early_responses_are_the_jobs(script: Script, data: st.DataObject) -> None:
    plays(script, data)


@given(script=asking_consumers(), data=st.data())
def test_a_consumer_groups_early_responses_are_the_jobs(
    script: Script, data: st.DataObject
) -> None:
    plays(script, data)
