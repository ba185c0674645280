"""At most so many at once, the newest of those who wait first: where too many come, at least some are served in good time."""

from __future__ import annotations

import asyncio
from asyncio import Future


class NewestFirst:
    """`async with` it for a turn."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: list[Future[None]] = []

    async def __aenter__(self) -> None:
        """Wait for a turn."""
        if self._free:
            self._free -= 1
            return
        turn: Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._pass_on()  # it came with the end of the wait
            raise

    async def __aexit__(self, *_: object) -> None:
        """The next one's turn."""
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.pop()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
