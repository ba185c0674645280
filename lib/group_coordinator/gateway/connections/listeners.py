"""The gateway's ports: a bootstrap port, and a port for each node.

A connection over the limits is closed before its first byte is read.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from asyncio import Task
from collections.abc import Iterable
from ssl import SSLContext
from typing import Protocol

from group_coordinator.gateway.cluster.addresses import Address

_REST_S = 1.0
_GONE = frozenset({errno.ECONNABORTED, errno.EPROTO})

_log = logging.getLogger(__name__)


class Door(Protocol):
    def admits(self, host: str) -> bool: ...
    def serve(self, node_id: int | None, host: str) -> asyncio.BaseProtocol: ...
    def failed_handshake(self, host: str, error: OSError) -> None: ...


class Port:
    """Open port that accepts connections from its creation on."""

    def __init__(
        self,
        listening: socket.socket,
        node_id: int | None,
        door: Door,
        tls: SSLContext | None,
        handshake_timeout_s: float,
    ) -> None:
        """Start to accept; `tls` is None for a plain port."""
        listening.settimeout(0)
        self._listening = listening
        self._node_id = node_id
        self._door = door
        self._tls = tls
        self._handshake_timeout_s = None if tls is None else handshake_timeout_s
        self._beginning: set[Task[None]] = set()
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
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
                # A client that left before accept is no error. Any other error, such as too many open files, needs a pause.
                if error.errno not in _GONE:
                    _log.error("Connections cannot be accepted for a moment: %s", error)
                    await asyncio.sleep(_REST_S)
            # A TLS handshake is expensive: other connections have their turn between two handshakes.
            await asyncio.sleep(0)

    async def _accept_one(self) -> None:
        loop = asyncio.get_running_loop()
        client, (host, *_) = await loop.sock_accept(self._listening)
        if not self._door.admits(host):
            # Closed before its first byte is read.
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
        except OSError as error:  # it speaks no TLS, or has gone
            self._door.failed_handshake(host, error)


_BACKLOG = 1024
_HIGHEST_PORT = 65_535


class Listeners:
    """The bootstrap port P and, for node n, port P + 1 + n.

    An opened port stays open, as clients keep the addresses of nodes that left.
    """

    def __init__(
        self,
        listen: Address,
        advertised_host: str,
        door: Door,
        tls: SSLContext | None,
        handshake_timeout_s: float,
    ) -> None:
        self._listen = listen
        self._advertised_host = advertised_host
        self._door = door
        self._tls = tls
        self._handshake_timeout_s = handshake_timeout_s
        self._opened: dict[int | None, Port] = {}
        self.without_port: dict[int, str] = {}
        """Nodes without a port, and the error of each."""
        self._is_closed = False

    def open(self, node_ids: Iterable[int]) -> None:
        """Open the bootstrap port and the ports of these nodes.

        Raises:
            OSError: a port is in use, or the address is not this machine's; the message names it.
        """
        self._open(None, self._listen.port)
        for node_id in node_ids:
            self._open(node_id, self._port_of(node_id))

    def address_of(self, node_id: int) -> Address | None:
        """Address of a node for clients, whose port is open when this returns. None: the port cannot be opened."""
        if node_id not in self._opened:
            if node_id < 0 or node_id in self.without_port or not self._could_open(node_id):
                return None
            _log.info("New node %d, at port %d", node_id, self._port_of(node_id))
        return Address(self._advertised_host, self._port_of(node_id))

    def try_again(self) -> None:
        """Open the ports that another process held before."""
        for node_id in tuple(self.without_port):
            if self._could_open(node_id):
                port = self._port_of(node_id)
                _log.info("Clients can connect to node %d now, at port %d", node_id, port)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        for opened in self._opened.values():
            opened.close()

    def _port_of(self, node_id: int) -> int:
        return self._listen.port + 1 + node_id

    def _could_open(self, node_id: int) -> bool:
        if self._is_closed:
            return False
        try:
            self._open(node_id, self._port_of(node_id))
        except OSError as error:
            if node_id not in self.without_port:
                _log.error("Clients cannot connect to the new node %d: %s", node_id, error)
            self.without_port[node_id] = str(error)
            return False
        self.without_port.pop(node_id, None)
        return True

    def _open(self, node_id: int | None, port: int) -> None:
        host = self._listen.host
        if port > _HIGHEST_PORT:
            raise OSError(
                f"the port {port} of node {node_id} is above {_HIGHEST_PORT}: set a lower port in gateway.listen"
            )
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # The socket listens at once, so a response may name the port.
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        self._opened[node_id] = Port(
            listening, node_id, self._door, self._tls, self._handshake_timeout_s
        )
