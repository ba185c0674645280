"""What a member says and hears over the shared channel: one request at a time, and not before its time has come."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import NamedTuple, Protocol

from group_coordinator.clients.channel.request import Body, Request
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
"""Nothing is wrong with the request: it may be sent again."""


class Channel(Protocol):
    """What a member needs of a RequestChannel."""

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request."""
        ...


class _Awaited(NamedTuple):
    reply: Future[Body]
    take: Callable[[Body], None]
    lost: Callable[[], None]


class Conversation:
    """Sends a member's requests, and hands it the answers when it asks for them.

    Args:
        channel: shared with other members.
        client_id: the name that the coordinator knows the member's client by.
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
        """Hand over the answer that has come; whether the next request may go out now.

        Raises:
            ClientError: what `fail` was told, or the channel is closed.
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
        """Send a request whose answer `settle` is to hand over; `lost` is called when none came in time."""
        self._awaited = _Awaited(self.send(request, timeout_ms), take, lost)

    def send(self, request: Request, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request beside the others."""
        request = request._replace(client_id=self._client_id)
        return self._channel.send(request, timeout_ms=timeout_ms)

    def pause(self, milliseconds: int) -> None:
        """Let the next request wait."""
        self._not_before_s = self._clock() + milliseconds / 1000

    def go_on(self) -> None:
        """Let the next request go out at once."""
        self._not_before_s = 0.0

    def fail(self, error: ClientError) -> None:
        """Raise this error now, and whenever somebody wants to go on."""
        self._failure = error
        raise error

    def forget(self) -> None:
        """The answer that is under way is of no interest any more."""
        self._awaited = None

    def wait(self, seconds: float) -> None:
        """Return when the answer is there, or after so long."""
        wait([self._awaited.reply] if self._awaited else [], timeout=seconds)
