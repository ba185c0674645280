"""At most so many at once, and the addresses of those who wait in turns: one of them cannot keep the others out."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairTurns:
    """Of connects to one broker."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        """By address; the one whose turn is next is the first."""

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Of a client from there."""
        await self._wait(host)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, host: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn: Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(host, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._pass_on()  # it came with the end of the wait
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            host, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[host] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
