"""What a gateway has in memory while something happens."""

from __future__ import annotations

from threading import Event, Thread
from typing import Self

from tests.attack.stage import Gateway

_LOOK_S = 0.02


class Memory:
    """Looks again and again for the time of its block."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._ended = Event()
        self._thread = Thread(target=self._look, name="memory")
        self.before_mb = self.most_mb = gateway.resident_mb

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def growth_mb(self) -> float:
        """Return how much more it had at most than before."""
        return self.most_mb - self.before_mb

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_S):
            self.most_mb = max(self.most_mb, self._gateway.resident_mb)
