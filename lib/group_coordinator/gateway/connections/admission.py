"""Limits of connections, of bytes in incomplete requests, and of the time until a client's login."""

from __future__ import annotations

import logging
from asyncio import get_running_loop
from collections import Counter
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar

from group_coordinator.gateway.counters import Counters

Holder = TypeVar("Holder")


class HeldBytes(Generic[Holder]):
    """Bytes by holder. Over `most` the largest holders are evicted: of `n` holders, none with at most `most / n` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Holder, int] = {}
        self.total = 0

    def note(self, holder: Holder, held: int) -> list[Holder]:
        """Set the bytes of a holder. Return the evicted holders, which count no more."""
        self._count(holder, held)
        largest = []
        while self.total > self._most:
            # The largest first, so that a client with little is no victim of the others.
            largest.append(max(self._held, key=self._held.__getitem__))
            self._count(largest[-1], 0)
        return largest

    def _count(self, holder: Holder, held: int) -> None:
        self.total += held - self._held.pop(holder, 0)
        if held:
            self._held[holder] = held


_MIB = 1024 * 1024
# Apart from AFTER_LOGIN_BYTES: a flood of unknown clients must not evict users.
BEFORE_LOGIN_BYTES = 8 * _MIB
"""Bytes of all clients before their logins together: incomplete requests and requests that are not forwarded yet."""
AFTER_LOGIN_BYTES = 256 * _MIB
"""Bytes of all other clients: incomplete requests, and the job's responses that cannot leave."""
_SILENCE_S = 60.0

_log = logging.getLogger(__name__)


class ConnectionLimits(NamedTuple):
    """Settings of the gateway, by Kafka's names where Kafka has them."""

    max_connections: int
    max_connections_per_ip: int
    login_timeout_ms: int
    """Time from the connect to the end of the login; without logins, to the first request."""
    failed_login_delay_ms: int


NO_LIMITS = ConnectionLimits(2**31 - 1, 2**31 - 1, 2**31 - 1, 0)


class CloseReason(Enum):
    """Reason to close the connection of a client that sent nothing wrong. The value is its label on /metrics."""

    MAX_CONNECTIONS = "max-connections"
    MAX_CONNECTIONS_PER_IP = "max-connections-per-ip"
    LOGIN_TIMEOUT = "login-timeout"
    UNFINISHED_REQUESTS = "unfinished-requests"


class Held(Protocol):
    """Connection whose bytes are counted."""

    is_new: bool
    """The client's login, or its first request if no login is needed, is still to come."""

    host: str
    """Host of the client."""

    def abort(self) -> None: ...


class Admission:
    """Limits of the gateway, with their counters and log lines."""

    def __init__(self, limits: ConnectionLimits, counters: Counters) -> None:
        self._limits = limits
        self._counters = counters
        self._logged: dict[CloseReason, tuple[float, int]] = {}
        """Time of the last log line, and the count at that time."""
        self._total = 0
        self._clients: Counter[str] = Counter()
        self._held_by_new: HeldBytes[Held] = HeldBytes(BEFORE_LOGIN_BYTES)
        self._held_by_others: HeldBytes[Held] = HeldBytes(AFTER_LOGIN_BYTES)
        self._why = {
            CloseReason.MAX_CONNECTIONS: f"gateway.max.connections = {limits.max_connections}",
            CloseReason.MAX_CONNECTIONS_PER_IP: f"gateway.max.connections.per.ip = {limits.max_connections_per_ip}",
            CloseReason.LOGIN_TIMEOUT: f"no login or request within gateway.login.timeout.ms = {limits.login_timeout_ms}",
            CloseReason.UNFINISHED_REQUESTS: "its unfinished request, or its unsent responses, were the largest, and all together were too large",
        }

    def admits(self, host: str) -> bool:
        """Return True if a client from this host may stay. It counts until `leave`."""
        if self._total >= self._limits.max_connections:
            self.count(CloseReason.MAX_CONNECTIONS, host)
        elif self._clients[host] >= self._limits.max_connections_per_ip:
            self.count(CloseReason.MAX_CONNECTIONS_PER_IP, host)
        else:
            self._total += 1
            self._clients[host] += 1
            return True
        return False

    def leave(self, host: str) -> None:
        self._total -= 1
        self._clients[host] -= 1
        # Hosts come and go: without this the counter would grow for ever.
        if not self._clients[host]:
            del self._clients[host]

    def note_held(self, connection: Held, held: int) -> None:
        """Set the bytes that the connection holds; abort the largest connections over the limit."""
        holders = self._held_by_new if connection.is_new else self._held_by_others
        for largest in holders.note(connection, held):
            self.count(CloseReason.UNFINISHED_REQUESTS, largest.host)
            largest.abort()

    def count(self, why: CloseReason, host: str) -> None:
        """Count a closed connection. Each reason is logged once a minute at most."""
        self._counters.closed[why.value] += 1
        count, now_s = self._counters.closed[why.value], get_running_loop().time()
        logged_at_s, before = self._logged.get(why, (-_SILENCE_S, 0))
        # A flood of connections must not flood the log.
        if now_s - logged_at_s >= _SILENCE_S:
            self._logged[why] = (now_s, count)
            _log.warning(
                "Hung up on %s: %s (%d since the last such line)",
                host,
                self._why[why],
                count - before,
            )
