"""What the gateway asks the job: one API call for one group, as an event carries it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, Protocol

from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.login.caller import Caller

ASKER = Caller("gateway", "/gateway", "User:gateway", None)
"""The gateway itself."""


class Question(NamedTuple):
    """One API call for one group."""

    api: str
    version: int
    group_id: str
    body: Body
    caller: Caller
    timeout_s: float

    def event(self, correlation_id: str, reply_partition: int | None) -> bytes:
        """The value of its record in the events topic; the key is the group id."""
        client_id, client_host, principal, _ = self.caller
        request = Request(self.api, self.version, self.group_id, self.body, client_id)
        return request.event(correlation_id, reply_partition, client_host, principal)


class NoAnswerError(Exception):
    """The job did not answer, or was not asked: the client gets the code in an answer's place."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Job(Protocol):
    """Who answers: the job behind its two topics, or in tests the state machine in this process."""

    def ask(self, question: Question) -> asyncio.Future[Body]:
        """Hand the question over before this returns; questions about a group are taken in the order of calls.

        The future gives the body of the answer, or a NoAnswerError. Cancelled, it is forgotten.
        """
