"""Limit of open bytes for each client, over all its connections. A client over the limit is not read until a response has left.

A client whose request blocked the loop for long is not read for as long again: half of the time is for others, however
many connections it has. Brokers throttle a client over its quota in the same way. An error would make the client repeat
its requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable

_log = logging.getLogger(__name__)

_REQUEST_BYTES = 1024
"""bytes of a pending request in addition to its own, about, so that many small requests count too."""
_LONG_S = 0.01
"""Limit of a usual request.

Only requests about many topics or groups block the loop for longer; all others need a tenth of that.
"""
_DECODED = 8
"""Memory of a decoded request in multiples of its bytes, about; a hostile request needs up to 83 times."""


class Shares:
    """Open bytes of each client."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._open_bytes: Counter[str] = Counter()
        self._held: dict[str, dict[Share, None]] = {}
        """Connections that wait for room, by client; the connection that waits longest is the first."""
        self._rests_until_s: dict[str, float] = {}
        """End of the pause by client, after requests that blocked the loop for long."""
        self.throttled_total = 0
        """Number of pauses of connections since the start."""

    def has_room(self, client: str) -> bool:
        """Return True if one more request may be pending."""
        return client not in self._rests_until_s and self._open_bytes[client] < self._most_bytes

    def hold(self, client: str, share: Share) -> None:
        """Resume the connection when there is room."""
        held = self._held.setdefault(client, {})
        if share not in held:
            held[share] = None
            self.throttled_total += 1
            _log.debug("throttle: client=%r open_bytes=%d", client, self._open_bytes[client])

    def leave(self, client: str, share: Share) -> None:
        """Remove a connection that waits no longer."""
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
        """Add a request of so many bytes."""
        self._add(_weight(size))

    def note_taken(self, seconds: float) -> None:
        """Note for how long a request blocked the loop."""
        if seconds > _LONG_S:
            self._shares.rest(self._client(), seconds)

    def give_back(self, size: int) -> None:
        """Release a request whose response has left."""
        self._add(-_weight(size))

    def close(self) -> None:
        """Release all bytes, as the connection is closed."""
        self._shares.leave(self._client(), self)
        self._add(-self._open_bytes)

    def _add(self, size: int) -> None:
        if size:
            self._open_bytes += size
            self._shares.add(self._client(), size)


def _weight(size: int) -> int:
    return _REQUEST_BYTES + _DECODED * size
