"""The gateway at work: its ports, its connections, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from ssl import SSLContext
from typing import NamedTuple

from group_coordinator.gateway.cluster.addresses import Address, Addresses
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.cluster.fair_turns import FairTurns
from group_coordinator.gateway.cluster.find_coordinator import Coordinators
from group_coordinator.gateway.connections.admission import NO_LIMITS, Admission, Closing, Limits
from group_coordinator.gateway.connections.connection import Connection
from group_coordinator.gateway.connections.line import Line
from group_coordinator.gateway.connections.listeners import Listeners
from group_coordinator.gateway.connections.read_queue import ReadQueue
from group_coordinator.gateway.connections.shares import Shares
from group_coordinator.gateway.connections.strangers import Strangers
from group_coordinator.gateway.counters import Counters, Gauges
from group_coordinator.gateway.desk import Desk
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.login.failed_logins import FailedLogins
from group_coordinator.gateway.login.login import Login
from group_coordinator.gateway.rights.own_topics import Closed, OwnTopics
from group_coordinator.gateway.served import PARKED_APIS

CONNECT_TIMEOUT_S = 10.0
_CONNECTING_AT_ONCE = 32
"""To one broker, which lets 50 wait (socket.listen.backlog.size) and makes others try again after a second."""

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
    limits: Limits = NO_LIMITS
    client_open_max_bytes: int = 8 * 1024 * 1024
    """What requests may take that one client has open."""
    closed: Closed = Closed()


class Gateway:
    """Shows the cluster's brokers at ports of its own."""

    def __init__(self, options: Options, view: ClusterView, groups: GroupPart) -> None:
        self._options = options
        self._view = view
        self.counters = Counters()
        self.login_timeout_s = options.limits.login_timeout_ms / 1000
        self._admission = Admission(options.limits, self.counters)
        self._failed_logins = FailedLogins(options.limits.failed_login_delay_ms)
        self.shares = Shares(options.client_open_max_bytes)
        self.unknown = ReadQueue()
        self._listeners = Listeners(
            options.listen, options.advertised_host, self, options.tls, self.login_timeout_s
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
        self._turns = defaultdict[Address, FairTurns](partial(FairTurns, _CONNECTING_AT_ONCE))
        """Of clients that want a connection to a broker."""
        self._unreachable: set[int | None] = set()
        """Nodes whose absence was told, None for all."""
        self._is_draining = False

    async def open(self) -> None:
        """Take connections.

        Raises:
            OSError: a port is taken, or the address is not this machine's.
        """
        self._listeners.open(self._view.brokers)

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
        return Gauges(
            len(self._connections),
            len(slots),
            parked,
            len(self.nodes_without_port()),
            self.shares.throttled_total,
        )

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
        self._listeners.close()
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

    def login(self, failed: Callable[[], None]) -> Login:
        """Of a client that has just come."""
        return Login(
            failed,
            is_wanted=self._view.access.wants_login,
            subject_claim=self._options.subject_claim,
        )

    def has_authorizer(self) -> bool:
        """As brokers say."""
        return self._view.has_authorizer

    async def connect(self, node_id: int | None, upstream: Line, host: str) -> None:
        """Try the broker's addresses in turn, for a client from a host.

        Raises:
            OSError: none of them can be reached.
        """
        loop = asyncio.get_running_loop()
        failures = []
        for broker in self._view.addresses_of(node_id):
            try:
                async with self._turns[broker].turn(host), asyncio.timeout(CONNECT_TIMEOUT_S):
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
        self._admission.leave(connection.host)

    def came_too_late(self, connection: Connection) -> None:
        """It had its time."""
        self._admission.count(Closing.LOGIN_TIMEOUT, connection.host)
        connection.abort()

    def held(self, connection: Connection, held: int) -> None:
        """It holds so many bytes now."""
        self._admission.note_held(connection, held)

    def login_failed(self, host: str) -> None:
        """As its broker says."""
        self._failed_logins.note(host, asyncio.get_running_loop().time())

    def login_wait_s(self, host: str) -> float:
        """For its failures."""
        return self._failed_logins.wait_s(host, asyncio.get_running_loop().time())

    def refused(self, connection: Connection, error: Exception) -> None:
        """The client sent what may not come."""
        self.counters.malformed += 1
        self._strangers.tell(connection.host, connection.client.first_bytes, error)

    def failed(self, connection: Connection, error: BaseException) -> None:
        """Its connection ends, the others go on."""
        self.counters.failed += 1
        self._strangers.tell_defect(connection.host, error)

    # What ports ask (Door).

    def admits(self, host: str) -> bool:
        """Whether one more may come from there."""
        return self._admission.admits(host)

    def failed_handshake(self, host: str) -> None:
        """It came in vain."""
        self._admission.leave(host)

    def serve(self, node_id: int | None, host: str) -> Line:
        """The client's line."""
        return Connection(self, node_id, host).client

    # What answers need to know (Nodes).

    def show(self, node_id: int, broker: Address) -> Address | None:
        """A broker that is new gets its port before the answer that names it leaves."""
        self._view.learn_broker(node_id, broker)
        return self._listeners.address_of(node_id)

    def _nodes_with_ports(self) -> list[int]:
        return [node for node in self._view.brokers if self._listeners.address_of(node) is not None]
