"""Rate limit for repeated work whose cost grows with the amount of data: at most 5 % of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
