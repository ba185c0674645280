"""A client's request: as collected, its route, and its place in the pipeline of its connection."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeAlias

from group_coordinator.gateway.served import ServedApi

Rewriting: TypeAlias = Callable[[memoryview], bytes | Awaitable[bytes]]
"""Function from a broker's response, without its size, to the response for the client, with its size."""


class ClientRequest(NamedTuple):
    """Collected request; the frame begins with its size."""

    api: ServedApi
    version: int
    correlation_id: int
    frame: bytearray


class MadeHere(NamedTuple):
    """Local response, with its size."""

    answer: bytes | Awaitable[bytes]


class SentOn(NamedTuple):
    """Request to forward, its size first, and how its response is rewritten, if at all."""

    request: bytes | bytearray
    rewriting: Rewriting | None


class Slot:
    """Pending request. Responses leave in the order of requests."""

    __slots__ = ("answer", "api", "correlation_id", "rewriting", "size", "version", "waiting_bytes")

    def __init__(
        self, api: ServedApi, version: int, correlation_id: int, rewriting: Rewriting | None = None
    ) -> None:
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self.rewriting = rewriting
        """None: the broker's response is forwarded unchanged, or the response is local."""
        self.size = 0
        """bytes of the request, if they count for its client's limit."""
        self.waiting_bytes = 0
        """bytes of the response, if it counts as waiting."""
        self.answer: bytes | None = None
        """Response to send; None: it is still to come, or it is forwarded."""


class Aside(NamedTuple):
    """Request of the gateway itself on a client's connection to a broker. The client does not get the response."""

    api: str
    version: int
    answer: Future[dict[str, Any]]
