"""What the gateway asks the job: one API call for one group, as an event carries it."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple, Protocol, TypeAlias

from msgspec import json

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.login.caller import Caller

Body: TypeAlias = dict[str, Any]
"""The body of a request or of a response, with Kafka's own field names."""


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
        return json.encode(
            {
                "api": self.api,
                "version": self.version,
                "correlationId": correlation_id,
                "replyPartition": reply_partition,
                "clientId": self.caller.client_id,
                "clientHost": self.caller.client_host,
                "principal": self.caller.principal,
                "body": self.body,
            }
        )


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
