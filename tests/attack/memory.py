"""What a gateway has in memory while something happens."""

from __future__ import annotations

from tests.attack.repeated import Repeated
from tests.attack.stage import Gateway

_LOOK_S = 0.02


class Memory(Repeated):
    """Looks again and again for the time of its block."""

    def __init__(self, gateway: Gateway) -> None:
        super().__init__(_LOOK_S)
        self._gateway = gateway
        self.before_mb = self.most_mb = gateway.resident_mb

    @property
    def growth_mb(self) -> float:
        """Return how much more it had at most than before."""
        return self.most_mb - self.before_mb

    def step(self) -> None:
        """Look once."""
        self.most_mb = max(self.most_mb, self._gateway.resident_mb)
