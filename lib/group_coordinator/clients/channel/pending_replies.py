"""Requests without a response yet: a future for each, by correlation id."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import count
from typing import Generic, TypeVar

from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.channel_errors import ChannelError, RequestTimedOutError

_DONE = (InvalidStateError, asyncio.InvalidStateError)
"""Whoever asked has cancelled the future."""


class PendingReply(Future[Body]):
    """The response to a request, and until when it is waited for."""

    def __init__(self, request: Request, timeout_s: float, now_s: float) -> None:
        super().__init__()
        self.request = request
        self.timeout_s = timeout_s
        self.deadline_s = now_s + timeout_s


_Reply = TypeVar("_Reply", PendingReply, "asyncio.Future[Body]")


class PendingReplies(Generic[_Reply]):
    """Any thread may use those of the class PendingReply; those of an event loop belong to the loop.

    A response completes its future once. A repeated response, or one to somebody else, finds no future and is dropped.
    """

    def __init__(self, name: str) -> None:
        """Correlation ids begin with `name`, by which responses are told from those to others."""
        self.name = name
        self._numbers = count(1)
        self._pending: dict[str, _Reply] = {}
        self._broken: ChannelError | None = None

    def __len__(self) -> int:
        return len(self._pending)

    def put(self, reply: _Reply) -> str:
        """The correlation id of a request that is about to be sent."""
        correlation_id = f"{self.name}-{next(self._numbers)}"
        self._pending[correlation_id] = reply
        # Behind the line above: `fail_all` in another thread sees this one, or is seen here.
        if self._broken is not None:
            self._pending.pop(correlation_id, None)
            raise self._broken
        return correlation_id

    def answer(self, correlation_id: str, body: Body) -> bool:
        """Whether somebody waited for it."""
        reply = self._pending.pop(correlation_id, None)
        if reply is None:
            return False
        try:
            reply.set_result(body)
        except _DONE:
            return False
        return True

    def fail(self, correlation_id: str, error: Exception) -> None:
        """There will be no response."""
        reply = self._pending.pop(correlation_id, None)
        if reply is not None:
            with suppress(*_DONE):
                reply.set_exception(error)

    def fail_all(self, error: ChannelError) -> None:
        """There will be no responses, nor to requests to come."""
        self._broken = error
        for correlation_id in list(self._pending):
            self.fail(correlation_id, error)


class TimedReplies(PendingReplies[PendingReply]):
    """Futures that fail after their deadlines."""

    def expire(self, now_s: float) -> None:
        """Fail the requests whose deadline is over."""
        for correlation_id, reply in self._pending.copy().items():
            if reply.deadline_s <= now_s:
                self.fail(correlation_id, _timed_out(correlation_id, reply))


def _timed_out(correlation_id: str, reply: PendingReply) -> RequestTimedOutError:
    return RequestTimedOutError(
        f"no answer to {reply.request} (correlation id {correlation_id}) in {reply.timeout_s:g} s; "
        "is the job running, and not older than this client? `group-coordinator run` starts it"
    )
