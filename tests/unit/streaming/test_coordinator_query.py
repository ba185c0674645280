"""One run of the coordinator: which query does which batch, with which settings, and what a stop leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from group_coordinator import settings
from group_coordinator.driver.errors import StartUpError
from group_coordinator.settings import Settings
from group_coordinator.streaming import coordinator_query
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.coordinator_query import CoordinatorHooks, CoordinatorRun

SETTINGS = settings.load()
BEFORE = replace(SETTINGS, job=replace(SETTINGS.job, timer_slack_ms=7))


class Checkpoint:
    """What Spark has written down: plans, and which of them are done."""

    def __init__(self, planned: int = -1, done: int = -1) -> None:
        self.planned = planned
        self.done = done
        self.unplanned: list[int] = []


class Query:
    """Plans one batch after the other in a thread of its own, as Spark does, and hands them to the gate."""

    def __init__(self, checkpoint: Checkpoint, gate: BatchGate) -> None:
        self._checkpoint = checkpoint
        self._gate = gate
        self._stopping = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        return self._thread.is_alive() and not self._stopping.is_set()

    @property
    def status(self) -> dict[str, object]:
        return {"isTriggerActive": True, "message": "Processing new data"}

    @property
    def lastProgress(self) -> Any:  # noqa: N802 - Spark's name
        done = self._checkpoint.done
        # One event in each batch.
        sources = [{"endOffset": {"group-events": {"0": done + 1}}}]
        text = json.dumps({"sources": sources})
        return None if done < 0 else SimpleNamespace(batchId=done, json=text)

    def awaitTermination(self, _seconds: float) -> None:  # noqa: N802 - Spark's name
        self._thread.join(0.02)

    def stop(self) -> None:
        self._stopping.set()

    def _run(self) -> None:
        batch: Any = None
        while not self._stopping.is_set():
            number = self._checkpoint.done + 1
            self._checkpoint.planned = max(self._checkpoint.planned, number)
            try:
                self._gate(batch, number)
            except RuntimeError:
                return
            self._checkpoint.done = number


class World:
    """A coordinator whose Spark is played by Query."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.stop = Event()
        self.written: list[tuple[int, int]] = []
        """Batches, and the slack that their settings had."""
        self.ticks = 0
        self.last_batch = 5
        self.must_wait: Callable[[], bool] = lambda: False
        self.watch: Callable[[object], None] = lambda _: None
        self.opened: tuple[int, Settings] | None = None
        self.before_ticks: Settings | None = None
        self.started: list[Settings] = []
        """The settings of each query."""
        self._patch(monkeypatch)

    def run(self) -> None:
        plans: Any = SimpleNamespace(follow=lambda _: None)
        around = CoordinatorHooks(
            tick=self._tick,
            must_wait=self._must_wait,
            plans=plans,
            before_query=lambda: None,
            before_batch=lambda _batch_id: None,
            report=lambda *_: None,
            rest=lambda *_: None,
            watches=(self._watch,),
            reply_partitions=lambda: 0,
        )
        spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(setLogLevel=lambda _: None))
        writer: Any = None
        CoordinatorRun(
            spark=spark, settings=SETTINGS, writer=writer, around=around, stop=self.stop
        ).run()

    def _must_wait(self) -> bool:
        return self.must_wait()

    def _watch(self, query: object) -> None:
        self.watch(query)

    def _tick(self) -> dict[int, int]:
        self.ticks += 1
        return {0: 3}

    def _patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        checkpoint = self.checkpoint
        played = {
            "coordinator_folder": lambda *_: None,
            "read_origin": lambda _: None,
            "Backlog": lambda *_: SimpleNamespace(begin=lambda _batch_id: None),
            "pin": lambda *_: None,
            "last_planned_batch": lambda _: checkpoint.planned,
            "last_done_batch": lambda _: checkpoint.done,
            "unplan": lambda _, batch_id: self._unplan(batch_id),
            "settings_of_open_batch": lambda *_, **__: self.opened,
            "settings_before_ticks": lambda *_: self.before_ticks,
            "start_query": lambda _spark, chosen, _origin, gate, _basis: self._start(chosen, gate),
            "plans_in_memory": lambda *_: None,
            "Sinks": lambda job, **_: SimpleNamespace(
                write=lambda _, batch_id: self._write(batch_id, job.timer_slack_ms)
            ),
        }
        for name, function in played.items():
            monkeypatch.setattr(coordinator_query, name, function)

    def _start(self, chosen: Settings, gate: BatchGate) -> Query:
        self.started.append(chosen)
        return Query(self.checkpoint, gate)

    def _unplan(self, batch_id: int) -> None:
        self.checkpoint.unplanned.append(batch_id)
        self.checkpoint.planned = batch_id - 1

    def _write(self, batch_id: int, slack_ms: int) -> None:
        self.written.append((batch_id, slack_ms))
        if batch_id >= self.last_batch:
            self.stop.set()


def test_a_stop_leaves_no_batch_open(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, Checkpoint())

    world.run()

    assert world.checkpoint.planned == world.checkpoint.done
    assert world.checkpoint.unplanned == [world.checkpoint.done + 1]
    assert [batch for batch, _ in world.written] == list(range(world.checkpoint.done + 1))


def test_only_the_open_batch_is_ended_with_its_own_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, Checkpoint(planned=3, done=2))
    world.opened = (3, BEFORE)

    world.run()

    slack_ms = SETTINGS.job.timer_slack_ms
    assert world.written[:3] == [(3, 7), (4, slack_ms), (5, slack_ms)]
    assert world.ticks == 2


def test_settings_of_the_last_run_count_until_the_ticks_of_the_start_are_read(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The Ticks are the third event: they are read by batch 2."""
    world = World(monkeypatch, Checkpoint())
    world.before_ticks = BEFORE
    # Else the first query would also handle some events behind the Ticks.
    world.must_wait = lambda: len(world.written) == 3 and world.started[-1] == BEFORE

    world.run()

    slack_ms = SETTINGS.job.timer_slack_ms
    assert world.written[:4] == [(0, 7), (1, 7), (2, 7), (3, slack_ms)]
    assert [record.getMessage() for record in caplog.records] == [
        "settings that decide responses have changed: those of the last run count for the events before this start"
    ]


def test_an_open_batch_that_must_wait_is_not_given_new_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was begun, so its plan stays as well."""
    world = World(monkeypatch, Checkpoint(planned=3, done=2))
    world.opened = (3, BEFORE)
    waits = [True]
    world.must_wait = lambda: bool(waits and waits.pop())

    world.run()

    assert world.written[0] == (3, 7)
    assert 3 not in world.checkpoint.unplanned


def test_a_batch_that_must_wait_is_done_by_the_next_query(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, Checkpoint())
    world.must_wait = lambda: len(world.written) == 2 and world.ticks == 1

    world.run()

    assert world.ticks == 2
    assert world.checkpoint.unplanned[0] == 2
    assert [batch for batch, _ in world.written][:4] == [0, 1, 2, 3]


def test_the_plans_of_a_driver_that_has_taken_over_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that stood still wakes up as it stops: another one has done its next batch, and planned one more."""
    world = World(monkeypatch, Checkpoint())
    world.must_wait = lambda: len(world.written) == 2 and world.ticks == 1
    stop = BatchGate.stop

    def stop_late(gate: BatchGate, query: Any, context: Any) -> None:
        stop(gate, query, context)
        if gate.held_batch == 2:
            world.checkpoint.planned, world.checkpoint.done = 3, 2

    monkeypatch.setattr(BatchGate, "stop", stop_late)

    world.run()

    assert not {2, 3} & set(world.checkpoint.unplanned)


def test_a_watch_that_fails_ends_the_query_and_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, Checkpoint())
    world.last_batch = 10**9
    seen: list[Any] = []

    def fail(query: object) -> None:
        seen.append(query)
        raise StartUpError("another checkpoint has taken over")

    world.watch = fail
    with pytest.raises(StartUpError):
        world.run()

    assert not seen[0].isActive
    assert world.checkpoint.planned == world.checkpoint.done
