"""What clients have sent of requests that are not whole: bounded in all, so that many of them cannot fill the memory."""

from __future__ import annotations

from typing import Generic, TypeVar

Holder = TypeVar("Holder")


class HeldBytes(Generic[Holder]):
    """Beyond `most` the largest must go: with `n` holders nobody who holds at most `most / n` ever does."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Holder, int] = {}
        self.total = 0

    def note(self, holder: Holder, held: int) -> list[Holder]:
        """A client holds so much now. Returns those that are too many, which count no more."""
        self._count(holder, held)
        largest = []
        while self.total > self._most:
            largest.append(max(self._held, key=self._held.__getitem__))
            self._count(largest[-1], 0)
        return largest

    def _count(self, holder: Holder, held: int) -> None:
        self.total += held - self._held.pop(holder, 0)
        if held:
            self._held[holder] = held
