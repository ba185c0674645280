"""Notices that Kafka was away, or that this process was: meanwhile no member could show that it lives."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event

from group_coordinator.background import repeat
from group_coordinator.clients.channel_errors import BrokerUnreachableError
from group_coordinator.core.deadlines.outages import Outage

_LOOK_S = 2.0
_WAIT_S = 0.1

OUTAGE_MS = 6_000
"""Shorter silence is no outage: no session is shorter (Kafka's default of group.min.session.timeout.ms)."""

_log = logging.getLogger(__name__)


class KafkaWatch:
    """Asks Kafka every other second, in a thread of its own.

    Args:
        ask: returns when the brokers that lead the events topic have answered; BrokerUnreachableError: they do not.
        note: remembers an outage.
        stop: the end of the run.
    """

    def __init__(
        self, ask: Callable[[], None], note: Callable[[Outage], None], stop: Event
    ) -> None:
        self._ask = ask
        self._note = note
        self._stop = stop
        self._heard_s = time.monotonic()
        self._is_away = False

    def run(self, ended: Event) -> None:
        """Look again and again until `ended` is set."""
        repeat(self.look, ended, _LOOK_S)

    def look(self) -> None:
        """Ask once; remember an outage that is over."""
        try:
            self._ask()
        except BrokerUnreachableError as failure:
            if not self._is_away:
                _log.warning("batches wait for Kafka: %s", failure)
            self._is_away = True
            return
        self._is_away = False
        silent_ms = self._silent_ms
        if silent_ms > OUTAGE_MS:
            _log.warning("no contact with Kafka for %d s: sessions begin anew", silent_ms // 1000)
            now_ms = time.time_ns() // 1_000_000
            self._note(Outage(now_ms - silent_ms, now_ms, was_heard=False))
        self._heard_s = time.monotonic()

    def await_contact(self) -> None:
        """Return once an outage is over and noted, or at the end of the run; at once if there is none."""
        while self._silent_ms > OUTAGE_MS and not self._stop.wait(_WAIT_S):
            pass

    @property
    def _silent_ms(self) -> int:
        return round((time.monotonic() - self._heard_s) * 1000)
