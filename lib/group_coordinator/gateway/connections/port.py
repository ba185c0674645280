"""A port where clients connect: who comes is let in, or hung up on at once, before it can say a word."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from asyncio import Task
from ssl import SSLContext
from typing import Protocol

_REST_S = 1.0
_GONE = frozenset({errno.ECONNABORTED, errno.EPROTO})

_log = logging.getLogger(__name__)


class Door(Protocol):
    """Knows who may come in."""

    def admits(self, host: str) -> bool:
        """Whether a client from there may stay; if so it counts, until it has gone."""

    def serve(self, node_id: int | None, host: str) -> asyncio.BaseProtocol:
        """The protocol of a client that came to a node's port, or to the bootstrap port."""

    def failed_handshake(self, host: str) -> None:
        """A client that was let in has gone before it could speak."""


class Port:
    """Listens from the beginning."""

    def __init__(
        self,
        listening: socket.socket,
        node_id: int | None,
        door: Door,
        tls: SSLContext | None,
        handshake_timeout_s: float,
    ) -> None:
        """`tls` is None where the port is plain."""
        listening.settimeout(0)
        self._listening = listening
        self._node_id = node_id
        self._door = door
        self._tls = tls
        self._handshake_timeout_s = None if tls is None else handshake_timeout_s
        self._beginning: set[Task[None]] = set()
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Take no more connections."""
        self._accepting.cancel()
        for task in self._beginning:
            task.cancel()
        asyncio.get_running_loop().remove_reader(self._listening)
        self._listening.close()

    async def _accept(self) -> None:
        while True:
            try:
                await self._accept_one()
            except OSError as error:
                if error.errno not in _GONE:
                    _log.error("Clients must wait: %s", error)
                    await asyncio.sleep(_REST_S)
            # What it sends first costs a handshake: those that are there have their turn between two of them.
            await asyncio.sleep(0)

    async def _accept_one(self) -> None:
        loop = asyncio.get_running_loop()
        client, (host, *_) = await loop.sock_accept(self._listening)
        if not self._door.admits(host):
            client.close()
            return
        task = loop.create_task(self._begin(client, host))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _begin(self, client: socket.socket, host: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(
                lambda: self._door.serve(self._node_id, host),
                client,
                ssl=self._tls,
                ssl_handshake_timeout=self._handshake_timeout_s,
            )
        except OSError:  # it speaks no TLS, or has gone
            self._door.failed_handshake(host)
