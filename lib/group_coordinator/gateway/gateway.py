"""The running gateway: its ports, its connections, and its shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from ssl import SSLContext, SSLError
from typing import NamedTuple

from group_coordinator.gateway.api_versions import PENDING_APIS
from group_coordinator.gateway.cluster.addresses import Address, Addresses, Coordinators
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.cluster.fair_queues import FairQueues
from group_coordinator.gateway.connections.admission import (
    NO_LIMITS,
    Admission,
    CloseReason,
    ConnectionLimits,
    ReadQueue,
    Shares,
)
from group_coordinator.gateway.connections.connection import ClientConnection, LoggedPeers
from group_coordinator.gateway.connections.listeners import Listeners
from group_coordinator.gateway.connections.tcp_connection import Pulse, TcpConnection
from group_coordinator.gateway.counters import Counters, Gauges
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.login import FailedLogins, Login
from group_coordinator.gateway.request_router import RequestRouter
from group_coordinator.gateway.rights.own_topics import Closed, OwnTopics

CONNECT_TIMEOUT_S = 10.0
_CONNECTING_AT_ONCE = 32
"""Concurrent connects to one broker, which queues 50 (socket.listen.backlog.size). Further connects would wait a second."""

_DRAIN_LOOK_S = 0.02
_LONGEST_REST_S = 10.0

_log = logging.getLogger(__name__)


class GatewayOptions(NamedTuple):
    listen: Address
    advertised_host: str
    max_idle_ms: int
    tls: SSLContext | None = None
    """TLS context of the clients' ports; None: the ports are plain."""
    subject_claim: str = "sub"
    """Claim of an OAUTHBEARER token with the user's name."""
    limits: ConnectionLimits = NO_LIMITS
    client_open_max_bytes: int = 8 * 1024 * 1024
    """Limit of the pending requests' bytes of one client."""
    closed: Closed = Closed()


class Gateway:
    """Proxy that shows each broker at a port of its own."""

    def __init__(self, options: GatewayOptions, view: ClusterView, groups: GroupPart) -> None:
        self._options = options
        self.view = view
        self.counters = Counters()
        self.login_timeout_s = options.limits.login_timeout_ms / 1000
        self._admission = Admission(options.limits, self.counters)
        self._failed_logins = FailedLogins(options.limits.failed_login_delay_ms)
        self.shares = Shares(options.client_open_max_bytes)
        self.unknown = ReadQueue()
        self.pulse = Pulse(self._woke)
        self._listeners = Listeners(
            options.listen, options.advertised_host, self, options.tls, self.login_timeout_s
        )
        self.router = RequestRouter(
            groups=groups,
            addresses=Addresses(self),
            coordinators=Coordinators(self._nodes_with_ports, self._listeners.address_of),
            counters=self.counters,
            topics=view,
            own_topics=OwnTopics(options.closed, view),
        )
        self._connections: set[ClientConnection] = set()
        self._strangers = LoggedPeers()
        self._turns = defaultdict[Address, FairQueues](partial(FairQueues, _CONNECTING_AT_ONCE))
        """Limits of concurrent connects, by broker."""
        self._unreachable: set[int | None] = set()
        """Nodes whose failure was logged, None for all."""
        self._is_draining = False

    async def open(self) -> None:
        """Accept connections. Raises OSError: a port is in use, or the address is not this machine's."""
        self._listeners.open(self.view.brokers)
        self.pulse.begin()

    def __str__(self) -> str:
        listen, host = self._options.listen, self._options.advertised_host
        nodes = {node: self._listeners.address_of(node) for node in sorted(self.view.brokers)}
        at_ports = ", ".join(f"node {n} at {a.port}" for n, a in nodes.items() if a is not None)
        return f"Gateway at {listen}, clients see {host}: {at_ports}"

    def drain_check(self) -> str | None:
        """Reason of the readiness page during the shutdown."""
        return "it is stopping" if self._is_draining else None

    async def keep_tidy(self) -> None:
        """Close idle connections, keep the brokers' connections of the others alive, and open ports, until this is cancelled."""
        while True:
            await asyncio.sleep(min(self._options.max_idle_ms / 10_000, _LONGEST_REST_S))
            self.open_ports()
            now_s = asyncio.get_running_loop().time()
            self.abort_idle(now_s)
            for each in self._connections:
                each.keep_broker(now_s)

    def gauges(self) -> Gauges:
        queue = [pending for each in self._connections for pending in each.pipeline.queue]
        parked = sum(pending.api.name in PENDING_APIS for pending in queue)
        return Gauges(
            len(self._connections),
            len(queue),
            parked,
            len(self.nodes_without_port()),
            self.shares.throttled_total,
        )

    def nodes_without_port(self) -> Mapping[int, str]:
        found = self._listeners.without_port.items()
        return {node: why for node, why in found if node in self.view.brokers}

    def open_ports(self) -> None:
        for node in self.view.brokers:
            self._listeners.address_of(node)
        self._listeners.try_again()

    def abort_idle(self, now_s: float) -> None:
        """Abort connections that were idle for too long and have no pending request, even if a close is under way."""
        for each in tuple(self._connections):
            idle_ms = (now_s - each.client.used_at_s) * 1000
            if idle_ms > self._options.max_idle_ms and not each.waits:
                each.abort()

    async def drain(self, timeout_s: float) -> None:
        """Accept no more connections and requests, and close each connection after its responses."""
        self._is_draining = True
        self._listeners.close()
        loop = asyncio.get_running_loop()
        end_s = loop.time() + timeout_s
        for each in self._connections:
            each.drain()
        while self._connections and loop.time() < end_s:
            for each in tuple(self._connections):
                if each.is_drained:
                    each.close()
            # Responses are still arriving, so the connections are checked again.
            await asyncio.sleep(_DRAIN_LOOK_S)
        for each in tuple(self._connections):
            each.abort()
        await asyncio.sleep(0)  # asyncio calls connection_lost in the next pass of the loop

    # As a ConnectionHost, for connections:

    def login(self, failed: Callable[[], None]) -> Login:
        return Login(
            failed,
            is_wanted=self.view.access.wants_login,
            subject_claim=self._options.subject_claim,
        )

    async def connect(self, node_id: int | None, upstream: TcpConnection, host: str) -> None:
        """Try the broker's addresses in turn, for a client of a host. Raises OSError: no address can be reached."""
        loop = asyncio.get_running_loop()
        failures = []
        for broker in self.view.addresses_of(node_id):
            try:
                async with self._turns[broker].turn(host), asyncio.timeout(CONNECT_TIMEOUT_S):
                    await loop.create_connection(
                        lambda: upstream, *broker, ssl=self.view.access.of_clients.tls
                    )
            # The bootstrap port tries all brokers, a node's port only its own.
            except OSError as error:  # TimeoutError is one
                failures.append(f"{broker}: {str(error) or 'no response'}")
            else:
                self._unreachable.discard(node_id)
                return
        name = "brokers" if node_id is None else f"node {node_id}"
        trouble = f"{name} cannot be reached: {'; '.join(failures)}"
        # The same failure of a node is logged once, until it is reachable again.
        if node_id not in self._unreachable:
            self._unreachable.add(node_id)
            _log.warning("Clients are disconnected: %s", trouble)
        raise ConnectionError(trouble)

    def came(self, connection: ClientConnection) -> None:
        self.counters.connections += 1
        self._connections.add(connection)
        # A connection accepted just before the shutdown.
        if self._is_draining:
            connection.abort()

    def went(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)
        self._admission.leave(connection.host)

    def came_too_late(self, connection: ClientConnection) -> None:
        self._admission.count(CloseReason.LOGIN_TIMEOUT, connection.host)
        connection.abort()

    def held(self, connection: ClientConnection, held: int) -> None:
        self._admission.note_held(connection, held)

    def login_failed(self, host: str) -> None:
        self._failed_logins.note(host, asyncio.get_running_loop().time())

    def login_wait_s(self, host: str) -> float:
        return self._failed_logins.wait_s(host, asyncio.get_running_loop().time())

    def frame_failed(self, connection: ClientConnection, error: Exception) -> None:
        self.counters.malformed += 1
        self._strangers.report(connection.host, connection.client.first_bytes, error)

    def failed(self, connection: ClientConnection, error: BaseException) -> None:
        self.counters.failed += 1
        self._strangers.report_defect(connection.host, error)

    # Interface Door, for ports:

    def admits(self, host: str) -> bool:
        return self._admission.admits(host)

    def failed_handshake(self, host: str, error: OSError) -> None:
        self._admission.leave(host)
        # Any other error is that of a probe, which connects and leaves.
        if isinstance(error, SSLError):
            self.counters.malformed += 1
            self._strangers.report(host, b"", error)

    def serve(self, node_id: int | None, host: str) -> TcpConnection:
        return ClientConnection(self, node_id, host).client

    # Interface Nodes, for responses:

    def show(self, node_id: int, broker: Address) -> Address | None:
        """Address of a broker for clients. A new broker gets its port before the response that names it leaves."""
        self.view.learn_broker(node_id, broker)
        return self._listeners.address_of(node_id)

    def _woke(self, still_s: float) -> None:
        _log.warning("The gateway stood still for %.0f s: all clients connect again", still_s)
        for each in tuple(self._connections):
            each.abort()

    def _nodes_with_ports(self) -> list[int]:
        return [node for node in self.view.brokers if self._listeners.address_of(node) is not None]
