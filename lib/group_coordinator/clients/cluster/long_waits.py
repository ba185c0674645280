"""Log of long waits for Kafka: the brokers that do not respond, and how to end the wait."""

from __future__ import annotations

import logging
from functools import partial
from itertools import count

from group_coordinator.background import Background, repeat

FIRST_S, AGAIN_S = 10.0, 60.0
"""Seconds of a wait until it is logged, and between later log lines."""
_log = logging.getLogger(__name__)


def reported_long_wait(
    awaited: str, first_s: float = FIRST_S, again_s: float = AGAIN_S
) -> Background:
    """Log the wait of the block after 10 s, and every minute from then on.

    Args:
        awaited: the object of the wait, such as "a response of Kafka at HOST:PORT".
        first_s: seconds until the first line.
        again_s: seconds between later lines.
    """
    waited_s = count(first_s, again_s)

    def report() -> None:
        _log.warning(
            "waiting for %s, for %g s so far; SIGTERM or Ctrl-C ends the wait",
            awaited,
            next(waited_s),
        )

    run = partial(repeat, report, interval_s=again_s, first_s=first_s)
    return Background(run, "long wait")
