"""Rates as Kafka's meters have them: over two windows of 30 s, of which the newer one is not over yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

WINDOW_S = 30.0
"""Kafka's metrics.sample.window.ms; metrics.num.samples is 2."""


class Rates:
    """How often something was counted a second, by name; times are of a clock that never goes back. For several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._window = 0
        self._now: Counter[str] = Counter()
        self._before: Counter[str] = Counter()

    def add(self, counts: Mapping[str, int], now_s: float) -> None:
        """Count."""
        with self._lock:
            self._move_to(now_s)
            self._now.update(counts)

    def per_second(self, name: str, now_s: float) -> float:
        """The rate of the last 30 to 60 s."""
        with self._lock:
            self._move_to(now_s)
            elapsed_s = now_s - (self._window - 1) * WINDOW_S
            return (self._now[name] + self._before[name]) / elapsed_s

    def _move_to(self, now_s: float) -> None:
        window = int(now_s // WINDOW_S)
        # Of two threads the later one may have looked at the clock earlier.
        if window <= self._window:
            return
        self._before = self._now if window == self._window + 1 else Counter()
        self._now, self._window = Counter(), window
