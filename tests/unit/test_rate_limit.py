from __future__ import annotations

import pytest

from group_coordinator.background import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_work_takes_a_twentieth_of_the_time() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    assert limit.is_due
    with limit.working():
        clock.now_s = 102.0
    assert not limit.is_due
    clock.now_s = 139.9
    assert not limit.is_due
    clock.now_s = 140.0
    assert limit.is_due


def test_work_that_fails_is_due_at_once() -> None:
    clock = Clock()
    limit = RateLimit(clock)

    def work() -> None:
        with limit.working():
            clock.now_s = 102.0
            raise OSError("away")

    with pytest.raises(OSError, match="away"):
        work()
    assert limit.is_due
