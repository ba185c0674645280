"""Threads beside the main one, and what is done again: at intervals, or after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed
from tenacity.nap import sleep_using_event


class Background(Thread):
    """Calls `run` with an event that `end` sets, as does the end of a with block; a daemon does not keep the process alive."""

    def __init__(self, run: Callable[[Event], None], name: str, *, daemon: bool = True) -> None:
        self._ended = Event()
        super().__init__(target=run, args=(self._ended,), name=name, daemon=daemon)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self, timeout_s: float | None = None) -> None:
        """Return when the thread has ended, if it was started, or after so long."""
        self._ended.set()
        if self.ident is not None:
            self.join(timeout_s)


@contextmanager
def running_beside(run: Callable[[Event], None], stop: Event, name: str) -> Iterator[None]:
    """Call `run` in a thread until the block ends, which sets the event that it is given.

    If it fails, `stop` is set, and its failure is raised when the block has ended.
    """
    failures: list[BaseException] = []

    def guarded(ended: Event) -> None:
        try:
            run(ended)
        except BaseException as failure:  # noqa: BLE001 - it is raised in the thread of the run
            failures.append(failure)
            stop.set()

    with Background(guarded, name, daemon=False):
        yield
    if failures:
        raise failures[0]


def _raise(failure: Exception, _count: int) -> None:
    raise failure


def repeat(
    work: Callable[[], None],
    ended: Event,
    interval_s: float,
    *,
    first_s: float | None = None,
    share: float = 1.0,
    failed: Callable[[Exception, int], None] = _raise,
) -> None:
    """Work again and again until `ended` is set.

    Args:
        work: what is done.
        ended: ends the pauses too.
        interval_s: the pause after each time.
        first_s: the pause before the first time; None: the same.
        share: of the time that the work may take; the pause is longer after work that takes long.
        failed: hears of a failure, and how many there were in a row; raises it where it ends the work.
    """
    failures, pause_s = 0, interval_s if first_s is None else first_s
    while not ended.wait(pause_s):
        begun_s = time.monotonic()
        try:
            work()
            failures = 0
        except Exception as failure:  # noqa: BLE001 - `failed` decides
            failures += 1
            failed(failure, failures)
        took_s = time.monotonic() - begun_s
        pause_s = max(interval_s, took_s / share - took_s)


def keep_trying(
    run: Callable[[], None],
    stop: Event,
    *,
    pause_s: float,
    passes: Callable[[BaseException], bool],
    say: Callable[[BaseException, int], None],
) -> None:
    """Run, and run again until it ends well or `stop` is set, which ends the pauses too.

    Args:
        run: what may fail.
        stop: once it is set, nothing is tried any more.
        pause_s: between a failure and the next attempt.
        passes: whether a failure may pass; another one is raised.
        say: hears of every failure that may pass, with the number of the attempt, from 1.
    """

    def attempt() -> None:
        if not stop.is_set():
            run()

    def failed(state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome is not None else None
        if failure is not None:
            say(failure, state.attempt_number)

    Retrying(
        retry=retry_if_exception(passes),
        wait=wait_fixed(pause_s),
        sleep=sleep_using_event(stop),
        after=failed,
    )(attempt)
