"""The gateway at work: its ports, its connections, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from ssl import SSLContext
from typing import NamedTuple

from group_coordinator.gateway.cluster.addresses import Address, Addresses
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.cluster.find_coordinator import Coordinators
from group_coordinator.gateway.connections.connection import PARKED_APIS, Connection
from group_coordinator.gateway.connections.frames import FrameError
from group_coordinator.gateway.connections.line import Line
from group_coordinator.gateway.connections.listeners import Listeners
from group_coordinator.gateway.connections.strangers import Strangers
from group_coordinator.gateway.counters import Counters, Gauges
from group_coordinator.gateway.desk import Desk
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.login.login import Login
from group_coordinator.gateway.rights.own_topics import Closed, OwnTopics

CONNECT_TIMEOUT_S = 10.0

_DRAIN_LOOK_S = 0.02
_LONGEST_REST_S = 10.0

_log = logging.getLogger(__name__)


class Options(NamedTuple):
    """Where the gateway listens, and its limits."""

    listen: Address
    advertised_host: str
    max_idle_ms: int
    tls: SSLContext | None = None
    """Of the ports of clients; None: they are plain."""
    subject_claim: str = "sub"
    """Where a token of OAUTHBEARER has the user's name."""
    closed: Closed = Closed()


class Gateway:
    """Shows the cluster's brokers at ports of its own."""

    def __init__(self, options: Options, view: ClusterView, groups: GroupPart) -> None:
        self._options = options
        self._view = view
        self.counters = Counters()
        self._listeners = Listeners(
            options.listen, options.advertised_host, self._serve, options.tls
        )
        self._desk = Desk(
            groups,
            Addresses(self),
            Coordinators(self._nodes_with_ports, self._listeners.address_of),
            self.counters,
            view,
            OwnTopics(options.closed, view),
        )
        self._connections: set[Connection] = set()
        self._strangers = Strangers()
        self._unreachable: set[int | None] = set()
        """Nodes whose absence was told, None for all."""
        self._is_draining = False

    async def open(self) -> None:
        """Take connections.

        Raises:
            OSError: a port is taken, or the address is not this machine's.
        """
        await self._listeners.open(self._view.brokers)

    def __str__(self) -> str:
        listen, host = self._options.listen, self._options.advertised_host
        nodes = {node: self._listeners.address_of(node) for node in sorted(self._view.brokers)}
        at_ports = ", ".join(f"node {n} at {a.port}" for n, a in nodes.items() if a is not None)
        return f"Gateway at {listen}, clients see {host}: {at_ports}"

    def drain_check(self) -> str | None:
        """For readiness."""
        return "it was told to stop" if self._is_draining else None

    async def keep_tidy(self) -> None:
        """Hang up on idle clients, keep the brokers of the others, and open ports, until this is cancelled."""
        while True:
            await asyncio.sleep(min(self._options.max_idle_ms / 10_000, _LONGEST_REST_S))
            self.open_ports()
            now_s = asyncio.get_running_loop().time()
            self.abort_idle(now_s)
            for each in self._connections:
                each.keep_broker(now_s)

    def gauges(self) -> Gauges:
        """What is so now."""
        slots = [slot for each in self._connections for slot in each.exchange.slots]
        parked = sum(slot.api.name in PARKED_APIS for slot in slots)
        return Gauges(len(self._connections), len(slots), parked, len(self.nodes_without_port()))

    def nodes_without_port(self) -> Mapping[int, str]:
        """Brokers that are there and that clients do not find, and why."""
        return {
            node: why
            for node, why in self._listeners.without_port.items()
            if node in self._view.brokers
        }

    def open_ports(self) -> None:
        """For brokers of which no client has heard yet, and for those whose port was taken."""
        for node in self._view.brokers:
            self._listeners.address_of(node)
        self._listeners.try_again()

    def abort_idle(self, now_s: float) -> None:
        """Hang up on those that were silent for too long and wait for no answer; also on those that do not end."""
        for each in tuple(self._connections):
            idle_ms = (now_s - each.client.used_at_s) * 1000
            if idle_ms > self._options.max_idle_ms and not each.waits:
                each.abort()

    async def drain(self, timeout_s: float) -> None:
        """Take no more connections and requests, and end each connection once its answers have left."""
        self._is_draining = True
        await self._listeners.close()
        loop = asyncio.get_running_loop()
        end_s = loop.time() + timeout_s
        for each in self._connections:
            each.drain()
        while self._connections and loop.time() < end_s:
            for each in tuple(self._connections):
                if each.is_drained:
                    each.close()
            await asyncio.sleep(_DRAIN_LOOK_S)
        for each in tuple(self._connections):
            each.abort()
        await asyncio.sleep(0)  # what was aborted is told so in the loop's next round

    # What connections ask (Surroundings).

    @property
    def desk(self) -> Desk:
        """Decides about requests."""
        return self._desk

    def login(self) -> Login:
        """Of a client that has just come."""
        return Login(
            is_wanted=self._view.access.wants_login, subject_claim=self._options.subject_claim
        )

    def has_authorizer(self) -> bool:
        """As brokers say."""
        return self._view.has_authorizer

    async def connect(self, node_id: int | None, upstream: Line) -> None:
        """Try the broker's addresses in turn.

        Raises:
            OSError: none of them can be reached.
        """
        loop = asyncio.get_running_loop()
        failures = []
        for broker in self._view.addresses_of(node_id):
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    await loop.create_connection(
                        lambda: upstream, *broker, ssl=self._view.access.of_clients.tls
                    )
            except OSError as error:  # TimeoutError is one
                failures.append(f"{broker}: {str(error) or 'no answer'}")
            else:
                self._unreachable.discard(node_id)
                return
        name = "brokers" if node_id is None else f"node {node_id}"
        trouble = f"{name} cannot be reached: {'; '.join(failures)}"
        if node_id not in self._unreachable:
            self._unreachable.add(node_id)
            _log.warning("Clients are hung up on, %s", trouble)
        raise ConnectionError(trouble)

    def came(self, connection: Connection) -> None:
        """A client is there."""
        self.counters.connections += 1
        self._connections.add(connection)
        if self._is_draining:
            connection.abort()

    def went(self, connection: Connection) -> None:
        """It is gone."""
        self._connections.discard(connection)

    def refused(self, connection: Connection, error: FrameError) -> None:
        """The client sent what may not come."""
        self.counters.malformed += 1
        client = connection.client
        self._strangers.tell(client.peer_host, client.first_bytes, error)

    def failed(self, connection: Connection, error: BaseException) -> None:
        """Its connection ends, the others go on."""
        _log.error("Hung up on %s", connection.client.peer_host, exc_info=error)

    # What answers need to know (Nodes).

    def show(self, node_id: int, broker: Address) -> Address | None:
        """A broker that is new gets its port before the answer that names it leaves."""
        self._view.learn_broker(node_id, broker)
        return self._listeners.address_of(node_id)

    def _nodes_with_ports(self) -> list[int]:
        return [node for node in self._view.brokers if self._listeners.address_of(node) is not None]

    def _serve(self, node_id: int | None) -> Line:
        return Connection(self, node_id).client
