"""A relay before a plain listener of the broker, which counts the requests that pass."""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import suppress
from threading import Thread
from typing import Self

from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK

_PIECE_BYTES = 64 * 1024
_SIZE_BYTES = 4


class RequestsRelay:
    """Listens from its making on, and carries from its `with` block on."""

    def __init__(self, broker_port: int) -> None:
        self._broker_port = broker_port
        self._server = socket.create_server((LOOPBACK, 0))
        self.port: int = self._server.getsockname()[1]
        self.counts: Counter[tuple[str, str]] = Counter()
        """By API and client id."""

    @property
    def address(self) -> str:
        """Return HOST:PORT."""
        return f"{LOOPBACK}:{self.port}"

    def __enter__(self) -> Self:
        Thread(target=self._accept, name="relay", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._server.accept()[0]
                broker = socket.create_connection((LOOPBACK, self._broker_port))
                Thread(target=self._carry_requests, args=[client, broker], daemon=True).start()
                Thread(target=_carry, args=[broker, client], daemon=True).start()

    def _carry_requests(self, client: socket.socket, broker: socket.socket) -> None:
        pending = bytearray()
        with client, broker, suppress(OSError):
            while piece := client.recv(_PIECE_BYTES):
                broker.sendall(piece)
                pending += piece
                self.count(pending)
            broker.shutdown(socket.SHUT_RDWR)  # the other thread waits for it

    def count(self, pending: bytearray) -> None:
        """Take the whole requests out of what has come."""
        while len(pending) >= _SIZE_BYTES:
            end = _SIZE_BYTES + int.from_bytes(pending[:_SIZE_BYTES])
            if len(pending) < end:
                return
            header = wire.request_header(memoryview(bytes(pending[_SIZE_BYTES:end])))
            name = wire.api_name(header.api_key) or str(header.api_key)
            self.counts[name, header.client_id or ""] += 1
            del pending[:end]


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE_BYTES):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
