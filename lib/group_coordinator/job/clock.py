"""This machine's clock and the brokers': deadlines fire by the one, and events are stamped by the other."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock

from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.clients.channel_errors import BrokerUnreachableError
from group_coordinator.job.refusals import JobRefusedError

_LOOK_S = 60.0
_log = logging.getLogger(__name__)


def check_clock(ahead_ms: int, slack_ms: int) -> None:
    """Refuse a clock that is this far ahead of the brokers'.

    Raises:
        JobRefusedError: sessions of living members would lapse, or dead ones live on.
    """
    if abs(ahead_ms) > slack_ms:
        raise JobRefusedError(
            f"the clock of this machine is {abs(ahead_ms)} ms {'ahead of' if ahead_ms > 0 else 'behind'} the "
            f"brokers', more than timer.slack.ms = {slack_ms}: sessions would not last as long as they "
            "should. Set the clock (NTP) here, or there"
        )


class Clock:
    """Compares them at a start, and again as soon as this machine's clock was set.

    Args:
        measure: by how many milliseconds this machine's clock is ahead of the brokers' now.
        slack_ms: what it may be, timer.slack.ms.
    """

    def __init__(self, measure: Callable[[], int], slack_ms: int) -> None:
        self._measure = measure
        self._slack_ms = slack_ms
        self._lock = Lock()
        self._offset_ms = _offset_ms()
        self._next_s = time.monotonic() + _LOOK_S

    def check(self, ahead_ms: int) -> None:
        """Refuse a clock that is this far ahead of the brokers', see check_clock."""
        self._offset_ms = _offset_ms()
        check_clock(ahead_ms, self._slack_ms)

    def look(self, _query: StreamingQuery) -> None:
        """Say so once a minute if the clock has drifted off."""
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + _LOOK_S
        ahead_ms = self._measured()
        if ahead_ms is not None and abs(ahead_ms) > self._slack_ms:
            _log.warning("the clock of this machine is %d ms ahead of the brokers'", ahead_ms)

    def is_wrong(self) -> bool:
        """Whether the clock was set, and is not known to be right again."""
        with self._lock:
            if abs(_offset_ms() - self._offset_ms) <= self._slack_ms:
                return False
            ahead_ms = self._measured()
            if ahead_ms is None or abs(ahead_ms) > self._slack_ms:
                return True  # and it is asked again
            self._offset_ms = _offset_ms()
        _log.warning("the clock of this machine was set, and agrees with the brokers'")
        return False

    def _measured(self) -> int | None:
        """None: no broker answers, which others tell."""
        try:
            return self._measure()
        except BrokerUnreachableError:
            return None


def _offset_ms() -> int:
    """Between the clock that may be set and the one that may not."""
    return (time.time_ns() - time.monotonic_ns()) // 1_000_000
