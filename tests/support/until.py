"""Waiting for something that happens in another thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(
    condition: Callable[[], Found],
    *,
    seconds: float,
    awaited: str | Callable[[], str],
    pause: Callable[[float], object] = time.sleep,
    poll_s: float = 0.05,
) -> Found:
    """Ask until the answer is true, and return it.

    Args:
        condition: what to ask; it may raise if there is nothing to wait for any more.
        seconds: after these the wait is over.
        awaited: what the message names if it does not happen, "an answer", or a function that tells it then.
        pause: waits for so many seconds before the next question, or does something useful meanwhile.
        poll_s: how long a pause lasts; the last one ends with the wait.
    """
    deadline_s = time.monotonic() + seconds
    while not (found := condition()):
        left_s = deadline_s - time.monotonic()
        assert left_s > 0, f"waited {seconds:g} s for {text_of(awaited)}"
        # Java waits no fraction of a millisecond.
        pause(max(0.001, min(poll_s, left_s)))
    return found


def text_of(awaited: str | Callable[[], str]) -> str:
    """The text of what was awaited."""
    return awaited if isinstance(awaited, str) else awaited()
