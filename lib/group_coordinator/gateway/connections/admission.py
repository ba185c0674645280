"""Limits of connections, of the bytes of requests that are not whole, and of the time until a client has logged in."""

from __future__ import annotations

import logging
from asyncio import get_running_loop
from collections import Counter
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar

from group_coordinator.gateway.counters import Counters

Holder = TypeVar("Holder")


class HeldBytes(Generic[Holder]):
    """Beyond `most` the largest must go: with `n` holders nobody who holds at most `most / n` ever does."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Holder, int] = {}
        self.total = 0

    def note(self, holder: Holder, held: int) -> list[Holder]:
        """A client holds so much now. Returns those that are too many, which count no more."""
        self._count(holder, held)
        largest = []
        while self.total > self._most:
            largest.append(max(self._held, key=self._held.__getitem__))
            self._count(largest[-1], 0)
        return largest

    def _count(self, holder: Holder, held: int) -> None:
        self.total += held - self._held.pop(holder, 0)
        if held:
            self._held[holder] = held


_MIB = 1024 * 1024
BEFORE_LOGIN_BYTES = 8 * _MIB
"""What all clients together that nobody knows may hold in requests that are not whole, or not sent on."""
AFTER_LOGIN_BYTES = 256 * _MIB
"""What all others may, in requests that are not whole and in the job's answers that cannot leave."""
_SILENCE_S = 60.0

_log = logging.getLogger(__name__)


class Limits(NamedTuple):
    """Settings of the gateway, by Kafka's names where it has them."""

    max_connections: int
    max_connections_per_ip: int
    login_timeout_ms: int
    """From the first sign of a client to the end of its login; where none is wanted, to its first request."""
    failed_login_delay_ms: int


NO_LIMITS = Limits(2**31 - 1, 2**31 - 1, 2**31 - 1, 0)


class Closing(Enum):
    """Why a client was hung up on that sent nothing wrong; the value is its label on /metrics."""

    MAX_CONNECTIONS = "max-connections"
    MAX_CONNECTIONS_PER_IP = "max-connections-per-ip"
    LOGIN_TIMEOUT = "login-timeout"
    UNFINISHED_REQUESTS = "unfinished-requests"


class Held(Protocol):
    """A connection."""

    is_new: bool
    """Whether its client has still to log in or, where no login is wanted, to ask something."""

    host: str
    """Where the client is."""

    def abort(self) -> None:
        """Hang up at once."""


class Admission:
    """Of one gateway."""

    def __init__(self, limits: Limits, counters: Counters) -> None:
        self._limits = limits
        self._counters = counters
        self._logged: dict[Closing, tuple[float, int]] = {}
        """When it was last logged, and how many there had been."""
        self._total = 0
        self._clients: Counter[str] = Counter()
        self._held_by_new: HeldBytes[Held] = HeldBytes(BEFORE_LOGIN_BYTES)
        self._held_by_others: HeldBytes[Held] = HeldBytes(AFTER_LOGIN_BYTES)
        self._why = {
            Closing.MAX_CONNECTIONS: f"gateway.max.connections = {limits.max_connections}",
            Closing.MAX_CONNECTIONS_PER_IP: f"gateway.max.connections.per.ip = {limits.max_connections_per_ip}",
            Closing.LOGIN_TIMEOUT: f"no login or request within gateway.login.timeout.ms = {limits.login_timeout_ms}",
            Closing.UNFINISHED_REQUESTS: "its unfinished request, or its answers that could not leave, were the largest of too many",
        }

    def admits(self, host: str) -> bool:
        """Whether one more client from there may stay; if so it counts, until `leave`."""
        if self._total >= self._limits.max_connections:
            self.count(Closing.MAX_CONNECTIONS, host)
        elif self._clients[host] >= self._limits.max_connections_per_ip:
            self.count(Closing.MAX_CONNECTIONS_PER_IP, host)
        else:
            self._total += 1
            self._clients[host] += 1
            return True
        return False

    def leave(self, host: str) -> None:
        """It has gone."""
        self._total -= 1
        self._clients[host] -= 1
        if not self._clients[host]:
            del self._clients[host]

    def note_held(self, connection: Held, held: int) -> None:
        """It holds so many bytes now."""
        holders = self._held_by_new if connection.is_new else self._held_by_others
        for largest in holders.note(connection, held):
            self.count(Closing.UNFINISHED_REQUESTS, largest.host)
            largest.abort()

    def count(self, why: Closing, host: str) -> None:
        """A client was hung up on; logged once a minute at most for each reason."""
        self._counters.closed[why.value] += 1
        count, now_s = self._counters.closed[why.value], get_running_loop().time()
        logged_at_s, before = self._logged.get(why, (-_SILENCE_S, 0))
        if now_s - logged_at_s >= _SILENCE_S:
            self._logged[why] = (now_s, count)
            _log.warning(
                "Hung up on %s: %s (%d since the last such line)",
                host,
                self._why[why],
                count - before,
            )
