"""How long the job rests after a batch, by the time since something came out of one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from group_coordinator.streaming import small_batch
from group_coordinator.streaming.checkpoint.plans import Offsets, PlannedBatch
from group_coordinator.streaming.small_batch import BatchCounts, IdleBackOff

NOTHING = BatchCounts()
ENDS = {"group-events": {0: 7}}


class World:
    """A clock that is moved by hand, and rests that last as long as they may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, longest_ms: int = 20_000) -> None:
        self.now_s = 1_000.0
        self.rests: list[float] = []
        monkeypatch.setattr(small_batch.time, "monotonic", lambda: self.now_s)
        self.ends: Offsets = ENDS
        self.before: Offsets = ENDS
        plans: Any = SimpleNamespace(
            of=lambda batch_id: PlannedBatch(5_000 + batch_id, self.ends), ranges_of=self._ranges
        )
        self.empty: list[int] = []
        self.rest = IdleBackOff(plans, self.empty.append, self._await, 250, longest_ms)

    def _await(self, ends: Offsets, seconds: float, _must_go_on: Callable[[], bool]) -> float:
        assert ends == self.ends
        self.rests.append(round(seconds, 3))
        self.now_s += seconds
        return seconds

    def _ranges(self, _batch_id: int) -> list[tuple[int, range]]:
        starts = self.before["group-events"]
        ends = self.ends["group-events"].items()
        return [(partition, range(starts.get(partition, 0), end)) for partition, end in ends]

    def batch(self, batch_id: int, counts: BatchCounts = NOTHING) -> None:
        self.rest.after(batch_id, counts, lambda: False)


@pytest.mark.parametrize(
    ("quiet_s", "expected"),
    [
        (0, []),
        (2.5, []),
        (2.6, [0.26]),
        (30, [3.0]),
        (199.9, [19.99]),
        (200, [20.0]),
        (10_000, [20.0]),
    ],
)
def test_a_rest_is_a_tenth_of_the_quiet_before_it(
    monkeypatch: pytest.MonkeyPatch, quiet_s: float, expected: list[float]
) -> None:
    world = World(monkeypatch)
    world.now_s += quiet_s

    world.batch(1)

    assert world.rests == expected


@pytest.mark.parametrize(
    "counts",
    [BatchCounts(responses=1), BatchCounts(records=1), BatchCounts(dead_letters=1)],
    ids=str,
)
def test_whatever_comes_out_of_a_batch_ends_the_quiet(
    monkeypatch: pytest.MonkeyPatch, counts: BatchCounts
) -> None:
    world = World(monkeypatch)
    world.now_s += 100
    world.batch(1)
    world.batch(2, counts)
    world.batch(3)
    assert world.rests == [10.0]

    world.now_s += 5
    world.batch(4)
    assert world.rests == [10.0, 0.5]


def test_an_event_without_an_answer_ends_the_quiet_and_a_tick_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A join that waits for others sets a deadline, and nothing comes out of it yet."""
    world = World(monkeypatch)
    world.now_s += 100
    world.ends = {"group-events": {0: 8, 1: 1}}
    world.rest.note_ticks({0: 8, 1: 1})
    world.batch(1)
    assert world.rests == [10.0]

    world.before, world.ends = world.ends, {"group-events": {0: 10, 1: 2}}
    world.rest.note_ticks({0: 9, 1: 2})
    world.batch(2)
    assert world.rests == [10.0]


def test_a_deadline_is_late_by_a_tenth_of_its_time_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever it is due, a batch begins soon enough behind it."""
    world = World(monkeypatch)
    begun_s = []
    for batch_id in range(200):
        begun_s.append(world.now_s - 1_000)
        world.batch(batch_id)
        world.now_s += 0.25

    for due_s in (3, 6, 10, 45, 60, 150):
        seen_s = next(at for at in begun_s if at >= due_s)
        assert seen_s <= due_s * 1.1 + 0.5


def test_no_rest_if_the_settings_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, longest_ms=0)
    world.now_s += 10_000

    world.batch(1)

    assert world.rests == []


def test_how_long_a_batch_lay_idle_is_known_to_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch)
    world.now_s += 30

    world.batch(1)

    assert world.empty == [1]
    assert [world.rest.ms_after(batch_id) for batch_id in (0, 1, 2)] == [0, 3_000, 0]
