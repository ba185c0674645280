"""Queue of a group's requests, for requests with a look-up before the job's request."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

from group_coordinator.clients.channel.channel import Body

HandOver: TypeAlias = Callable[[], Awaitable[Body]]
"""Sends the request to the job at once, and returns the response to come."""
LookUp: TypeAlias = Callable[[], Awaitable[None]]
"""Asks the brokers for data of the job's request. It raises no error."""

_log = logging.getLogger(__name__)


class _Turn(NamedTuple):
    look_up: LookUp | None
    hand_over: HandOver
    begun: asyncio.Future[Awaitable[Body]]


class Turns:
    """Group queues. Requests wait for an earlier request of their group only during its look-up, which is rare."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[_Turn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(
        self, group_id: str, hand_over: HandOver, look_up: LookUp | None = None
    ) -> Awaitable[Body]:
        """Hand over now, or after the earlier requests and the look-up."""
        line = self._lines.get(group_id)
        # The usual case needs no task.
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
            # Removed after its look-up, so that later requests queue behind it.
            line.popleft()
        del self._lines[group_id]


async def _begin(turn: _Turn) -> None:
    # A defect ends only this request; the queue continues.
    try:
        if turn.look_up is not None:
            await turn.look_up()
        # The future of a client that is gone is cancelled.
        if not turn.begun.done():
            turn.begun.set_result(turn.hand_over())
    except Exception as defect:  # noqa: BLE001 - it is the answer to one request
        if turn.begun.done():
            _log.exception("Internal error in a request of a client that is disconnected")
        else:
            turn.begun.set_exception(defect)


def _answer(turn: _Turn) -> Coroutine[Any, Any, Body]:
    async def wait() -> Body:
        return await (await turn.begun)

    return wait()
