"""A client of the wire protocol that takes little time itself: one connection, any number of open requests."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from group_coordinator.clients.channel import Body, Request
from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK

_SIZE_BYTES = 4
_CLIENT_ID = "benchmark"


class _Open(NamedTuple):
    request: Request
    answer: asyncio.Future[Body]


class WireClient(asyncio.Protocol):
    """Answers come in the order of requests."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._open: deque[_Open] = deque()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def connected(cls, port: int) -> WireClient:
        """One more connection to a gateway on this machine."""
        _, client = await asyncio.get_running_loop().create_connection(cls, LOOPBACK, port)
        return client

    def ask(self, request: Request) -> asyncio.Future[Body]:
        """The future gives the answer's body, or a ConnectionError."""
        answer: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        if self._transport is None:
            answer.set_exception(ConnectionError("the gateway hung up"))
            return answer
        self._open.append(_Open(request, answer))
        self._transport.write(
            wire.request(request.api, request.version, 0, _CLIENT_ID, request.body)
        )
        return answer

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= _SIZE_BYTES:
            end = _SIZE_BYTES + int.from_bytes(self._received[:_SIZE_BYTES])
            if len(self._received) < end:
                break
            frame = bytes(self._received[_SIZE_BYTES:end])
            del self._received[:end]
            request, answer = self._open.popleft()
            _, body = wire.response_body(request.api, request.version, frame)
            if not answer.done():
                answer.set_result(body)

    def connection_lost(self, _: Exception | None) -> None:
        self._transport = None
        for _, answer in self._open:
            if not answer.done():
                answer.set_exception(ConnectionError("the gateway hung up"))
        self._open.clear()
