"""Which runs of queries have ended: listeners hear of it a while later than who awaits the query."""

from __future__ import annotations

from collections.abc import Collection
from threading import Condition


class Runs:
    """Any number of threads may call it."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._open: set[str] = set()

    def begin(self, run: str) -> None:
        """A run goes on."""
        with self._changed:
            self._open.add(run)

    def end(self, run: str) -> None:
        """A run has ended, and all of its progress was heard."""
        with self._changed:
            self._open.discard(run)
            self._changed.notify_all()

    def await_all_but(self, active: Collection[str], timeout_s: float) -> bool:
        """Wait until no other run is open than these; returns whether it is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open <= set(active), timeout_s)

    def __bool__(self) -> bool:
        return bool(self._open)
