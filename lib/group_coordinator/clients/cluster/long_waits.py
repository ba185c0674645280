"""Logs long waits for Kafka: the brokers that do not respond, and how to end the wait."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

FIRST_S, AGAIN_S = 10.0, 60.0
"""Seconds of a wait until it is logged, and between later log lines."""
_log = logging.getLogger(__name__)


@contextmanager
def long_wait_told(
    awaited: str, first_s: float = FIRST_S, again_s: float = AGAIN_S
) -> Iterator[None]:
    """Log the wait of the block after 10 s, and every minute from then on.

    Args:
        awaited: the object of the wait, such as "a response of Kafka at HOST:PORT".
        first_s: seconds until the first line.
        again_s: seconds between later ones.
    """
    ended = Event()

    def tell() -> None:
        pause_s, waited_s = first_s, 0.0
        while not ended.wait(pause_s):
            waited_s += pause_s
            _log.warning(
                "waiting for %s, for %g s so far; SIGTERM or Ctrl-C ends the wait",
                awaited,
                waited_s,
            )
            pause_s = again_s

    Thread(target=tell, name="long wait", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
