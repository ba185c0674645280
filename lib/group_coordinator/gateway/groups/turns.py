"""The order of a group's requests, where one of them must look something up before the job can be asked."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

from group_coordinator.clients.channel.channel import Body

HandOver: TypeAlias = Callable[[], Awaitable[Body]]
"""Asks the job at once, and gives what will be the answer."""
LookUp: TypeAlias = Callable[[], Awaitable[None]]
"""Asks the brokers for what the question to the job must say; it raises nothing."""

_log = logging.getLogger(__name__)


class _Turn(NamedTuple):
    look_up: LookUp | None
    hand_over: HandOver
    begun: asyncio.Future[Awaitable[Body]]


class Turns:
    """Requests wait for an earlier one of their group only while that one looks something up, which is rare."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[_Turn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(
        self, group_id: str, hand_over: HandOver, look_up: LookUp | None = None
    ) -> Awaitable[Body]:
        """Hand over now, or after those before it and what it looks up itself."""
        line = self._lines.get(group_id)
        if line is None and look_up is None:
            return hand_over()
        turn = _Turn(look_up, hand_over, asyncio.get_running_loop().create_future())
        if line is None:
            self._lines[group_id] = deque([turn])
            task = asyncio.create_task(self._serve(group_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            line.append(turn)
        return _answer(turn)

    async def _serve(self, group_id: str) -> None:
        line = self._lines[group_id]
        while line:
            await _begin(line[0])
            line.popleft()
        del self._lines[group_id]


async def _begin(turn: _Turn) -> None:
    """A defect ends this turn alone, those behind it go on."""
    try:
        if turn.look_up is not None:
            await turn.look_up()
        # A client that is gone has cancelled it.
        if not turn.begun.done():
            turn.begun.set_result(turn.hand_over())
    except Exception as defect:  # noqa: BLE001 - it is the answer to one request
        if turn.begun.done():
            _log.exception("A client that is gone asked what met a defect")
        else:
            turn.begun.set_exception(defect)


def _answer(turn: _Turn) -> Coroutine[Any, Any, Body]:
    async def wait() -> Body:
        return await (await turn.begun)

    return wait()
