"""A member's requests over the shared channel: one at a time, and not before it is due."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import NamedTuple

from group_coordinator.clients.channel.request import Body, Channel, Request
from group_coordinator.clients.channel_errors import RequestTimedOutError
from group_coordinator.clients.errors import ClientError
from group_coordinator.core.model.errors import ErrorCode

COORDINATOR_AWAY = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""The request is valid and may be sent again."""


class _Awaited(NamedTuple):
    reply: Future[Body]
    take: Callable[[Body], None]
    lost: Callable[[], None]


class Conversation:
    """Sends a member's requests, and hands over the answers when the member asks.

    Args:
        channel: shared with other members.
        client_id: the name of the member's client.
        clock: seconds, never going back.
    """

    def __init__(self, channel: Channel, client_id: str, clock: Callable[[], float]) -> None:
        self._channel = channel
        self._client_id = client_id
        self._clock = clock
        self._awaited: _Awaited | None = None
        self._not_before_s = 0.0
        self._failure: ClientError | None = None

    def settle(self) -> bool:
        """Hand over the answer that has come; returns whether the next request may be sent now.

        Raises:
            ClientError: the error given to `fail`, or the channel is closed.
        """
        if self._failure is not None:
            raise self._failure
        awaited = self._awaited
        if awaited is not None and awaited.reply.done():
            self._awaited = None
            if isinstance(awaited.reply.exception(), RequestTimedOutError):
                awaited.lost()
            else:
                awaited.take(awaited.reply.result())
        return self._awaited is None and self._clock() >= self._not_before_s

    def ask(
        self,
        request: Request,
        take: Callable[[Body], None],
        lost: Callable[[], None],
        timeout_ms: int | None = None,
    ) -> None:
        """Send a request: `settle` gives its answer to `take`, or calls `lost` if no answer came in time."""
        self._awaited = _Awaited(self.send(request, timeout_ms), take, lost)

    def send(self, request: Request, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request without waiting for another answer."""
        request = request._replace(client_id=self._client_id)
        return self._channel.send(request, timeout_ms=timeout_ms)

    def pause(self, milliseconds: int) -> None:
        """The next request is due after so long."""
        self._not_before_s = self._clock() + milliseconds / 1000

    def go_on(self) -> None:
        """The next request is due at once."""
        self._not_before_s = 0.0

    def fail(self, error: ClientError) -> None:
        """Raise this error now and at every `settle`."""
        self._failure = error
        raise error

    def forget(self) -> None:
        """Ignore the answer to the request that was sent last."""
        self._awaited = None

    def wait(self, seconds: float) -> None:
        """Return when the answer is there, or after so long."""
        wait([self._awaited.reply] if self._awaited else [], timeout=seconds)
