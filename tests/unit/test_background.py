from __future__ import annotations

import time
from threading import Event, Timer

import pytest

from group_coordinator.background import keep_trying, running_beside


class Run:
    """Fails as told, then ends well."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.calls = 0
        self.said: list[tuple[str, int]] = []

    def __call__(self) -> None:
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)

    def keep_trying(self, stop: Event, pause_s: float = 0) -> None:
        keep_trying(
            self,
            stop,
            pause_s=pause_s,
            passes=lambda failure: isinstance(failure, OSError),
            say=lambda failure, attempt: self.said.append((str(failure), attempt)),
        )


def test_what_passes_is_told_with_the_number_of_the_attempt() -> None:
    run = Run(OSError("away"), OSError("still away"))

    run.keep_trying(Event())

    assert (run.calls, run.said) == (3, [("away", 1), ("still away", 2)])


def test_what_does_not_pass_is_raised_as_it_is() -> None:
    run = Run(OSError("away"), ValueError("a defect"))

    with pytest.raises(ValueError, match="a defect"):
        run.keep_trying(Event())

    assert run.said == [("away", 1)]


def test_nothing_begins_after_a_stop() -> None:
    run, stop = Run(), Event()
    stop.set()

    run.keep_trying(stop)

    assert run.calls == 0


def test_a_stop_ends_the_pause_and_no_attempt_follows() -> None:
    run, stop = Run(OSError("away")), Event()
    Timer(0.05, stop.set).start()
    began_s = time.monotonic()

    run.keep_trying(stop, pause_s=60)

    assert (run.calls, time.monotonic() - began_s < 30) == (1, True)


def test_what_runs_beside_ends_with_the_block() -> None:
    stop, told = Event(), []

    def run(ended: Event) -> None:
        told.append(ended.wait(10))

    with running_beside(run, stop, "beside"):
        assert told == []

    assert told == [True]
    assert not stop.is_set()


def test_its_failure_ends_the_run_and_is_told() -> None:
    stop = Event()

    def run(_ended: Event) -> None:
        raise OSError("the disk is gone")

    def main() -> None:
        with running_beside(run, stop, "beside"):
            assert stop.wait(10)

    with pytest.raises(OSError, match="the disk is gone"):
        main()


def test_the_failure_of_the_block_goes_first() -> None:
    def run(_ended: Event) -> None:
        raise OSError("beside")

    def main() -> None:
        with running_beside(run, Event(), "beside"):
            raise ValueError("in the block")

    with pytest.raises(ValueError, match="in the block"):
        main()
