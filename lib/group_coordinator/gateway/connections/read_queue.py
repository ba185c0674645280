"""Clients that nobody knows are read one after the other: many that send at once must not keep the others waiting."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

_IN_A_PASS = 8
"""So many are read before those that are known have their turn, at about 0.2 ms each."""


class ReadQueue:
    """Of one loop."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def wait(self, read_again: Callable[[], None]) -> None:
        """Call it in a later pass of the loop, behind those that wait already."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
        self._waiting.append(read_again)

    def _next(self) -> None:
        for _ in range(min(_IN_A_PASS, len(self._waiting))):
            self._waiting.popleft()()
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
