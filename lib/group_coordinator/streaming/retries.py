"""What is tried again after a pause, for as long as the job lives."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed
from tenacity.nap import sleep_using_event


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
