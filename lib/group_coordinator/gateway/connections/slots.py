"""The place of an answer among those of its connection."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeAlias

from group_coordinator.gateway.served import Api

Rewriting: TypeAlias = Callable[[memoryview], bytes | Awaitable[bytes]]
"""From a broker's answer, without its size, to the one that leaves, with its size."""


class Slot:
    """A request that has no answer yet: answers leave in the order of requests."""

    __slots__ = ("answer", "api", "correlation_id", "rewriting", "size", "version", "waiting_bytes")

    def __init__(
        self, api: Api, version: int, correlation_id: int, rewriting: Rewriting | None = None
    ) -> None:
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self.rewriting = rewriting
        """None: the broker's answer is passed on as it comes, or the answer is made here."""
        self.size = 0
        """bytes of the request, if its client pays for them."""
        self.waiting_bytes = 0
        """Of the answer, if it counts as waiting."""
        self.answer: bytes | None = None
        """What leaves; None: it is still to come, or it is passed on."""


class Aside(NamedTuple):
    """A request of the gateway's own among those of a client: the client never hears of the answer."""

    api: str
    version: int
    answer: Future[dict[str, Any]]
