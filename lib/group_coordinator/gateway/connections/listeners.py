"""The ports of the gateway: one for newcomers, and one more for each node."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable
from ssl import SSLContext

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.connections.port import Door, Port

_BACKLOG = 1024
_HIGHEST_PORT = 65_535

_log = logging.getLogger(__name__)


class Listeners:
    """The bootstrap port P and, for node n, P + 1 + n. A port that was opened stays: clients keep addresses of nodes that left."""

    def __init__(
        self,
        listen: Address,
        advertised_host: str,
        door: Door,
        tls: SSLContext | None,
        handshake_timeout_s: float,
    ) -> None:
        """`tls` is None where the ports are plain."""
        self._listen = listen
        self._advertised_host = advertised_host
        self._door = door
        self._tls = tls
        self._handshake_timeout_s = handshake_timeout_s
        self._opened: dict[int | None, Port] = {}
        self.without_port: dict[int, str] = {}
        """Nodes that clients cannot find, and why."""
        self._is_closed = False

    def open(self, node_ids: Iterable[int]) -> None:
        """Take newcomers, and clients of these nodes.

        Raises:
            OSError: a port is taken, or the address is not this machine's; the message names it.
        """
        self._open(None, self._listen.port)
        for node_id in node_ids:
            self._open(node_id, self._port_of(node_id))

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

    def close(self) -> None:
        """Take no more connections."""
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
                _log.error("Clients will not find node %d, which is new: %s", node_id, error)
            self.without_port[node_id] = str(error)
            return False
        self.without_port.pop(node_id, None)
        return True

    def _open(self, node_id: int | None, port: int) -> None:
        """It is open at once."""
        host = self._listen.host
        if port > _HIGHEST_PORT:
            raise OSError(
                f"node {node_id} would be at port {port}, and {_HIGHEST_PORT} is the highest"
            )
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        self._opened[node_id] = Port(
            listening, node_id, self._door, self._tls, self._handshake_timeout_s
        )
