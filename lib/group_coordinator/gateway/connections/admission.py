"""Limits of connections, of bytes in incomplete requests, and of the time until a client's login.

A client over its limit of open bytes, over all its connections, is not read until a response has left. A client whose request
blocked the loop for long is not read for as long again: half of the time is for others. Brokers throttle clients in the same
way; an error would make the client repeat its requests. Clients before their logins queue, so that they delay no others.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import get_running_loop
from collections import Counter, deque
from collections.abc import Callable
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


_REQUEST_BYTES = 1024
"""bytes of a pending request in addition to its own, about, so that many small requests count too."""
_LONG_S = 0.01
"""Limit of a usual request; only requests about many topics or groups block the loop for longer, all others for a tenth."""
_DECODED = 8
"""Memory of a decoded request in multiples of its bytes, about; a hostile request needs up to 83 times."""


class Shares:
    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._open_bytes: Counter[str] = Counter()
        self._held: dict[str, dict[Share, None]] = {}
        """Connections that wait for room, by client; the connection that waits longest is the first."""
        self._rests_until_s: dict[str, float] = {}
        """End of the pause by client, after requests that blocked the loop for long."""
        self.throttled_total = 0

    def has_room(self, client: str) -> bool:
        return client not in self._rests_until_s and self._open_bytes[client] < self._most_bytes

    def hold(self, client: str, share: Share) -> None:
        """Resume the connection when there is room."""
        held = self._held.setdefault(client, {})
        if share not in held:
            held[share] = None
            self.throttled_total += 1
            _log.debug("throttle: client=%r open_bytes=%d", client, self._open_bytes[client])

    def leave(self, client: str, share: Share) -> None:
        held = self._held.get(client, {})
        held.pop(share, None)
        if not held:
            self._held.pop(client, None)

    def add(self, client: str, size: int) -> None:
        """Add open bytes of a client, or remove them if the size is negative."""
        self._open_bytes[client] += size
        if not self._open_bytes[client]:
            del self._open_bytes[client]
        # Only released bytes can make room for a waiting connection.
        if size < 0 and client in self._held:
            self._let_one_go_on_soon(client)

    def rest(self, client: str, seconds: float) -> None:
        """Pause a client for as long as it blocked the loop."""
        loop = asyncio.get_running_loop()
        _log.debug("throttle: client=%r pause_s=%.3f", client, seconds)
        until_s = max(self._rests_until_s.get(client, 0.0), loop.time()) + seconds
        self._rests_until_s[client] = until_s
        loop.call_at(until_s, self._end_rest, client, until_s)

    def _end_rest(self, client: str, until_s: float) -> None:
        # A longer pause may have replaced this one.
        if self._rests_until_s[client] == until_s:
            del self._rests_until_s[client]
            self._let_one_go_on(client)

    def _let_one_go_on_soon(self, client: str) -> None:
        # In the next pass of the loop, as a resumed connection may send a response and release bytes at once.
        asyncio.get_running_loop().call_soon(self._let_one_go_on, client)

    def _let_one_go_on(self, client: str) -> None:
        held = self._held.get(client)
        if not held or not self.has_room(client):
            return
        share = next(iter(held))
        self.leave(client, share)
        share.go_on()
        # A single connection resumes in each pass, so that other connections have their turns.
        if client in self._held:
            self._let_one_go_on_soon(client)


class Share:
    """Open bytes of a connection, as a part of its client's limit."""

    def __init__(
        self, shares: Shares, client: Callable[[], str], go_on: Callable[[], None]
    ) -> None:
        """Take callbacks: `client` returns the payer of the connection, `go_on` reads it again."""
        self._shares = shares
        self._client = client
        self.go_on = go_on
        self._open_bytes = 0

    def must_wait(self) -> bool:
        """Return True if the next request must wait; `go_on` is called later."""
        client = self._client()
        if self._shares.has_room(client):
            return False
        self._shares.hold(client, self)
        return True

    def take(self, size: int) -> None:
        self._add(_weight(size))

    def note_taken(self, seconds: float) -> None:
        if seconds > _LONG_S:
            self._shares.rest(self._client(), seconds)

    def give_back(self, size: int) -> None:
        self._add(-_weight(size))

    def close(self) -> None:
        self._shares.leave(self._client(), self)
        self._add(-self._open_bytes)

    def _add(self, size: int) -> None:
        if size:
            self._open_bytes += size
            self._shares.add(self._client(), size)


def _weight(size: int) -> int:
    return _REQUEST_BYTES + _DECODED * size


_IN_A_PASS = 8
"""Reads in one pass of the loop, at about 0.2 ms each, before other connections have their turn."""


class ReadQueue:
    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def wait(self, read_again: Callable[[], None]) -> None:
        """Call the function in a later pass of the loop, behind those that wait already."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
        self._waiting.append(read_again)

    def _next(self) -> None:
        # Clients that queue up during this pass wait for the next pass.
        for _ in range(min(_IN_A_PASS, len(self._waiting))):
            self._waiting.popleft()()
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
