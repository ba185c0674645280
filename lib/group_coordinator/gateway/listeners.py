"""The ports of the gateway: one for newcomers, and one more for each node."""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio import Server, Task
from collections.abc import Callable

from group_coordinator.gateway.addresses import Address

_BACKLOG = 1024
_HIGHEST_PORT = 65_535

_log = logging.getLogger(__name__)


class Listeners:
    """The bootstrap port P and, for node n, P + 1 + n. A port that was opened stays: clients keep addresses of nodes that left."""

    def __init__(
        self,
        listen: Address,
        advertised_host: str,
        serve: Callable[[int | None], asyncio.BaseProtocol],
    ) -> None:
        """`serve` makes the protocol of a client that came to a node's port, or to the bootstrap port."""
        self._listen = listen
        self._advertised_host = advertised_host
        self._serve = serve
        self._opened: dict[int | None, Task[Server]] = {}
        self._told: set[int] = set()
        self._is_closed = False

    async def open_bootstrap(self) -> None:
        """Take newcomers.

        Raises:
            OSError: the port is taken, or the address is not this machine's.
        """
        await self._open(None, self._listen.port)

    def address_of(self, node_id: int) -> Address | None:
        """Where clients find a node; its port takes connections when this returns. None: the port cannot be had."""
        port = self._listen.port + 1 + node_id
        if node_id not in self._opened and not self._could_open(node_id, port):
            return None
        return Address(self._advertised_host, port)

    async def close(self) -> None:
        """Take no more connections."""
        self._is_closed = True
        for opened in self._opened.values():
            (await opened).close()

    def _could_open(self, node_id: int, port: int) -> bool:
        if self._is_closed or not 0 <= node_id < port <= _HIGHEST_PORT:
            return False
        try:
            self._open(node_id, port)
        except OSError as error:
            if node_id not in self._told:
                self._told.add(node_id)
                _log.error("Node %d has no port, clients will not find it: %s", node_id, error)
            return False
        return True

    def _open(self, node_id: int | None, port: int) -> Task[Server]:
        """The port is open at once; who connects before the server runs, waits in the backlog."""
        host = self._listen.host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        loop = asyncio.get_running_loop()
        server = loop.create_server(lambda: self._serve(node_id), sock=listening, backlog=_BACKLOG)
        self._opened[node_id] = loop.create_task(server)
        return self._opened[node_id]
