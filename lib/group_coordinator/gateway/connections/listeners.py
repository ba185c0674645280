"""The ports of the gateway: one for newcomers, and one more for each node."""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio import Server, Task
from collections.abc import Callable, Iterable
from ssl import SSLContext

from group_coordinator.gateway.cluster.addresses import Address

_BACKLOG = 1024
_HANDSHAKE_TIMEOUT_S = 10.0
_HIGHEST_PORT = 65_535

_log = logging.getLogger(__name__)


class Listeners:
    """The bootstrap port P and, for node n, P + 1 + n. A port that was opened stays: clients keep addresses of nodes that left."""

    def __init__(
        self,
        listen: Address,
        advertised_host: str,
        serve: Callable[[int | None], asyncio.BaseProtocol],
        tls: SSLContext | None = None,
    ) -> None:
        """`serve` makes the protocol of a client that came to a node's port, or to the bootstrap port."""
        self._listen = listen
        self._advertised_host = advertised_host
        self._serve = serve
        self._tls = tls
        self._opened: dict[int | None, Task[Server]] = {}
        self.without_port: dict[int, str] = {}
        """Nodes that clients cannot find, and why."""
        self._is_closed = False

    async def open(self, node_ids: Iterable[int]) -> None:
        """Take newcomers, and clients of these nodes.

        Raises:
            OSError: a port is taken, or the address is not this machine's; the message names it.
        """
        await self._open(None, self._listen.port)
        for node_id in node_ids:
            await self._open(node_id, self._port_of(node_id))

    def address_of(self, node_id: int) -> Address | None:
        """Where clients find a node; its port takes connections when this returns. None: the port cannot be had."""
        if node_id not in self._opened:
            if node_id < 0 or node_id in self.without_port or not self._could_open(node_id):
                return None
            _log.info("Node %d is new, at port %d", node_id, self._port_of(node_id))
        return Address(self._advertised_host, self._port_of(node_id))

    def try_again(self) -> None:
        """Whoever had the port of a node may be gone."""
        for node_id in tuple(self.without_port):
            if self._could_open(node_id):
                _log.info("Clients find node %d now, at port %d", node_id, self._port_of(node_id))

    async def close(self) -> None:
        """Take no more connections."""
        self._is_closed = True
        for opened in self._opened.values():
            (await opened).close()

    def _port_of(self, node_id: int) -> int:
        return self._listen.port + 1 + node_id

    def _could_open(self, node_id: int) -> bool:
        if self._is_closed:
            return False
        try:
            self._open(node_id, self._port_of(node_id))
        except OSError as error:
            if node_id not in self.without_port:
                _log.error("Clients will not find node %d, which is new: %s", node_id, error)
            self.without_port[node_id] = str(error)
            return False
        self.without_port.pop(node_id, None)
        return True

    def _open(self, node_id: int | None, port: int) -> Task[Server]:
        """The port is open at once; who connects before the server runs, waits in the backlog."""
        host = self._listen.host
        if port > _HIGHEST_PORT:
            raise OSError(
                f"node {node_id} would be at port {port}, and {_HIGHEST_PORT} is the highest"
            )
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        loop = asyncio.get_running_loop()
        server = loop.create_server(
            lambda: self._serve(node_id),
            sock=listening,
            backlog=_BACKLOG,
            ssl=self._tls,
            ssl_handshake_timeout=None if self._tls is None else _HANDSHAKE_TIMEOUT_S,
        )
        self._opened[node_id] = loop.create_task(server)
        return self._opened[node_id]
