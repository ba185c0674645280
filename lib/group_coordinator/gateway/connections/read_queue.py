"""Queue of clients before their logins: many clients that send at once must not delay the clients with a login."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

_IN_A_PASS = 8
"""Reads in one pass of the loop, at about 0.2 ms each, before other connections have their turn."""


class ReadQueue:
    """Queue of the event loop."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def wait(self, read_again: Callable[[], None]) -> None:
        """Call the function in a later pass of the loop, behind those that wait already."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
        self._waiting.append(read_again)

    def _next(self) -> None:
        # Clients that queue up during this pass wait for the next pass.
        for _ in range(min(_IN_A_PASS, len(self._waiting))):
            self._waiting.popleft()()
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
