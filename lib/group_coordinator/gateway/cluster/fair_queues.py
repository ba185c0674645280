"""Limit of concurrent operations with a queue for each address, so that no address can starve the others."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairQueues:
    """Queues for connecting to a broker."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        """Queues by address; the address whose turn is next is the first."""

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
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
            # A turn that was given together with the cancellation goes to the next waiter.
            if not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            host, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            # The address goes to the end, so that the others have their turns first.
            if turns:
                self._waiting[host] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
