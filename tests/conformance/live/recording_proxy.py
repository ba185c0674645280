"""A proxy between clients and a broker that notes what they say about groups, in the order in which the broker is told it."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from typing import BinaryIO, Final

from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK
from tests.conformance.language.lines import Json
from tests.conformance.live.conversation import Conversation, Exchange, now_ms

_RECORDED: Final = {
    8: "OffsetCommit",
    9: "OffsetFetch",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    68: "ConsumerGroupHeartbeat",
}
_MAY_PARK: Final = frozenset(("JoinGroup", "SyncGroup"))
_PARKED_S: Final = 0.1
"""A request that is not answered within this time waits for others."""
_TIMEOUT_S: Final = 10.0
_SIZE: Final = 4
_CORRELATION: Final = slice(8, 12)
"""Where a request has its number, behind its size, its API and its version; an answer has it right behind its size."""


class RecordingProxy:
    """Listens on loopback for clients of one broker; one request about a group is with the broker at a time.

    Parked requests aside, the next one is passed on when the one before is answered, so that the order is known.
    """

    def __init__(self) -> None:
        self.conversation = Conversation()
        """Where it notes what is said from now on."""
        self.await_aftermath: Callable[[Exchange], None] = lambda _: None
        """Called before the next request is passed on; it waits until the broker has done what this one began."""
        self._server = socket.create_server((LOOPBACK, 0))
        self._broker_port = 0
        self._turn = Condition()
        self._is_busy = False
        self._held: Counter[str | None] = Counter()
        self.port: int = self._server.getsockname()[1]

    def serve(self, broker_port: int) -> None:
        """Take clients from now on and speak for them to this broker."""
        self._broker_port = broker_port
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more clients."""
        self._server.close()

    @contextmanager
    def held(self, client_id: str | None = None) -> Iterator[None]:
        """Keep back what this client says about its group, or what anybody says, while the block runs."""
        with self._turn:
            # First, so that nobody who waits for a turn comes before it.
            self._held[client_id] += 1
            self._turn.wait_for(lambda: not self._is_busy)
        try:
            yield
        finally:
            with self._turn:
                self._held[client_id] -= 1
                self._turn.notify_all()

    @contextmanager
    def _own_turn(self, client_id: str) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not (self._is_busy or self._is_held(client_id)))
            self._is_busy = True
        try:
            yield
        finally:
            with self._turn:
                self._is_busy = False
                self._turn.notify_all()

    def _is_held(self, client_id: str) -> bool:
        return bool(self._held[None] or self._held[client_id])

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._server.accept()
                broker = socket.create_connection((LOOPBACK, self._broker_port))
                _Connection(self, client, broker).start()

    def pass_on(self, exchange: Exchange, send: Callable[[], None]) -> None:
        """Wait for this request's turn, note it, send it, and wait for its answer."""
        event = exchange.event
        with self._own_turn(event["clientId"]):
            exchange.at_ms = now_ms()
            self.conversation.entries.append(exchange)
            send()
            exchange.answered.wait(_PARKED_S if event["api"] in _MAY_PARK else _TIMEOUT_S)
            self.await_aftermath(exchange)


class _Connection:
    """A client's connection, and the one to the broker that carries on what it says."""

    def __init__(self, proxy: RecordingProxy, client: socket.socket, broker: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._broker = broker
        self._open: dict[bytes, Exchange] = {}

    def start(self) -> None:
        ways = ((self._client, self._broker, self._ask), (self._broker, self._client, self._answer))
        for source, target, take in ways:
            Thread(target=_carry, args=(source, target, take), daemon=True).start()

    def _ask(self, frame: bytes) -> None:
        api = _RECORDED.get(int.from_bytes(frame[4:6]))
        if api is None:
            self._broker.sendall(frame)
            return
        exchange = Exchange(0, _event(api, frame))
        self._open[frame[_CORRELATION]] = exchange
        self._proxy.pass_on(exchange, lambda: self._broker.sendall(frame))

    def _answer(self, frame: bytes) -> None:
        exchange = self._open.pop(frame[_SIZE : 2 * _SIZE], None)
        if exchange is not None:
            event = exchange.event
            _, exchange.answer = wire.response_body(event["api"], event["version"], frame[_SIZE:])
            exchange.answered.set()
        self._client.sendall(frame)


def _carry(source: socket.socket, target: socket.socket, take: Callable[[bytes], None]) -> None:
    """Hand over frame after frame, each with its size, until either side hangs up; then hang up on both."""
    with suppress(OSError), source.makefile("rb") as stream:
        while frame := _frame(stream):
            take(frame)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


def _frame(stream: BinaryIO) -> bytes:
    size = stream.read(_SIZE)
    return size + stream.read(int.from_bytes(size)) if len(size) == _SIZE else b""


def _event(api: str, frame: bytes) -> Json:
    header = wire.request_header(frame[_SIZE:])
    return {
        "api": api,
        "version": header.version,
        "clientId": header.client_id,
        "clientHost": f"/{LOOPBACK}",
        "body": wire.request_body(frame[_SIZE:]),
    }
