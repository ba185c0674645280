"""Background threads, loops that repeat work at intervals or after a failure, and a rate limit for such work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed
from tenacity.nap import sleep_using_event


class Background(Thread):
    """Thread that calls `run` with an event, which `end` and the end of a with block set."""

    def __init__(self, run: Callable[[Event], None], name: str, *, daemon: bool = True) -> None:
        self._ended = Event()
        super().__init__(target=run, args=(self._ended,), name=name, daemon=daemon)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self, timeout_s: float | None = None) -> None:
        """Set the event, and return when the thread has ended or after the timeout. Without a start it returns at once."""
        self._ended.set()
        if self.ident is not None:
            self.join(timeout_s)


@contextmanager
def running_beside(run: Callable[[Event], None], stop: Event, name: str) -> Iterator[None]:
    """Call `run` in a thread until the block ends, which sets its event; a failure sets `stop`, and is raised at the end."""
    failures: list[BaseException] = []

    def guarded(ended: Event) -> None:
        try:
            run(ended)
        except BaseException as failure:  # noqa: BLE001 - it is raised in the thread of the run
            failures.append(failure)
            stop.set()

    # No daemon: the work is ended cleanly before the process exits.
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
    """Call `work` until `ended` is set, with a pause after each call; `first_s` is the pause before the first.

    `share` is the part of the time that the work may take: the pause is longer after work that takes long. `failed` gets a failure
    and the number of failures in a row, and raises it to end the loop.
    """
    # The pause is an event's wait, so that `ended` interrupts it.
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
        # Long work on a loaded machine must leave time for other threads.
        pause_s = max(interval_s, took_s / share - took_s)


def keep_trying(
    run: Callable[[], None],
    stop: Event,
    *,
    pause_s: float,
    passes: Callable[[BaseException], bool],
    say: Callable[[BaseException, int], None],
) -> None:
    """Call `run` until it succeeds or `stop` is set, which ends the pauses too.

    A failure that `passes` is retried, any other is raised. `say` gets each retried failure and the number of the attempt, from 1.
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


MOST_OF_THE_TIME = 0.05
"""The largest share of the time for such work."""


class RateLimit:
    """Rate limit: after work it waits, for a share of 5 % 19 times as long as the work took; at first work is due."""

    def __init__(self, clock: Callable[[], float], share: float = MOST_OF_THE_TIME) -> None:
        self._clock = clock
        self._share = share
        self._due_s = clock()

    @property
    def is_due(self) -> bool:
        return self._clock() >= self._due_s

    @contextmanager
    def working(self) -> Iterator[None]:
        """Measure the work of the block; after a failure it is due at once."""
        begun_s = self._clock()
        yield
        ended_s = self._clock()
        self._due_s = ended_s + (ended_s - begun_s) * (1 / self._share - 1)
