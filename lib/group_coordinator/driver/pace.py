"""How soon something is done again that takes longer the more there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_OF_THE_TIME = 0.05
"""The share of the time that it may take."""


class Pace:
    """Lets work rest after it was done, 19 times as long as it took; at first it is due.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._due_s = clock()

    @property
    def is_due(self) -> bool:
        """Whether it has rested long enough."""
        return self._clock() >= self._due_s

    @contextmanager
    def working(self) -> Iterator[None]:
        """The work; what fails is due at once."""
        begun_s = self._clock()
        yield
        ended_s = self._clock()
        self._due_s = ended_s + (ended_s - begun_s) * (1 / MOST_OF_THE_TIME - 1)
