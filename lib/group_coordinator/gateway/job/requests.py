"""Requests of the gateway to the job: an API call for a group, its event, and the wait for the response."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, Protocol

from group_coordinator.clients.channel.channel import Body, PendingReplies, Request
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.login.caller import Caller

ASKER = Caller("gateway", "/gateway", "User:gateway", None)
"""Caller of the gateway's own requests."""


class GroupRequest(NamedTuple):
    """Request of an API for a group."""

    api: str
    version: int
    group_id: str
    body: Body
    caller: Caller
    timeout_s: float

    def event(self, correlation_id: str, reply_partition: int | None) -> bytes:
        """Value of the event's record; the key is the group id."""
        client_id, client_host, principal, _ = self.caller
        request = Request(self.api, self.version, self.group_id, self.body, client_id)
        return request.event(correlation_id, reply_partition, client_host, principal)


class NoAnswerError(Exception):
    """The job did not answer, or the request was not sent. The client gets an error response with the code."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class JobClient(Protocol):
    """Interface of the job: its two topics, or in tests the state machine in this process."""

    def ask(self, request: GroupRequest) -> asyncio.Future[Body]:
        """Send the request before this returns; a group's requests keep the order of calls.

        The future returns the body of the response, or raises NoAnswerError. A cancelled future drops the request.
        """


class PendingRequests(PendingReplies[asyncio.Future[Body]]):
    """Pending requests with deadlines in the heap of the event loop."""

    def add(self, timeout_s: float) -> tuple[str, asyncio.Future[Body]]:
        """Add a request; return its correlation id and the future of its response."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Body] = loop.create_future()
        correlation_id = self.put(answer)
        # A timer for each request, as a JoinGroup may wait for minutes and a commit for seconds.
        timer = loop.call_later(timeout_s, self._give_up, correlation_id)

        def forget(_: asyncio.Future[Body]) -> None:
            timer.cancel()
            self._pending.pop(correlation_id, None)

        # Also if the client is gone and its future is cancelled: nothing may stay behind.
        answer.add_done_callback(forget)
        return correlation_id, answer

    def _give_up(self, correlation_id: str) -> None:
        # All clients look for the coordinator again after error 15, and repeat the request.
        self.fail(correlation_id, NoAnswerError(ErrorCode.COORDINATOR_NOT_AVAILABLE))
