"""What each client has open: one that has its share open, over all its connections, is not read until an answer has left.

Nor is one whose request took the loop for long, for as long again: half of the time is for others, however many connections it has.
Brokers hold a client back in the same way that is over its quota. An error instead would make it repeat what there is too much of.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

_REQUEST_BYTES = 1024
"""What an open request takes in addition to what it says, about: so that many small ones count too."""
_LONG_S = 0.01
"""A request that takes the loop for longer is one of many topics or groups; all others take a tenth of that."""
_DECODED = 8
"""How many times its bytes a decoded request takes, about; a hostile one takes up to 83 times."""


class Shares:
    """Open bytes by client."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._open_bytes: Counter[str] = Counter()
        self._held: dict[str, dict[Share, None]] = {}
        """Connections that wait for room, by client; the one that waits longest is the first."""
        self._rests_until_s: dict[str, float] = {}
        """By client whose requests took the loop for long a moment ago."""
        self.throttled_total = 0
        """How often a connection was not read on for that."""

    def has_room(self, client: str) -> bool:
        """Whether one more request may be open."""
        return client not in self._rests_until_s and self._open_bytes[client] < self._most_bytes

    def hold(self, client: str, share: Share) -> None:
        """Let the connection go on when there is room."""
        held = self._held.setdefault(client, {})
        if share not in held:
            held[share] = None
            self.throttled_total += 1

    def leave(self, client: str, share: Share) -> None:
        """The connection waits no longer."""
        held = self._held.get(client, {})
        held.pop(share, None)
        if not held:
            self._held.pop(client, None)

    def add(self, client: str, size: int) -> None:
        """More of it is open, or less."""
        self._open_bytes[client] += size
        if not self._open_bytes[client]:
            del self._open_bytes[client]
        if size < 0 and client in self._held:
            self._let_one_go_on_soon(client)

    def rest(self, client: str, seconds: float) -> None:
        """It has taken the loop for so long, and leaves it to others for as long."""
        loop = asyncio.get_running_loop()
        until_s = max(self._rests_until_s.get(client, 0.0), loop.time()) + seconds
        self._rests_until_s[client] = until_s
        loop.call_at(until_s, self._end_rest, client, until_s)

    def _end_rest(self, client: str, until_s: float) -> None:
        if self._rests_until_s[client] == until_s:
            del self._rests_until_s[client]
            self._let_one_go_on(client)

    def _let_one_go_on_soon(self, client: str) -> None:
        # From the loop: a connection that goes on may answer at once, and give back in turn.
        asyncio.get_running_loop().call_soon(self._let_one_go_on, client)

    def _let_one_go_on(self, client: str) -> None:
        held = self._held.get(client)
        if not held or not self.has_room(client):
            return
        share = next(iter(held))
        self.leave(client, share)
        share.go_on()
        if client in self._held:
            self._let_one_go_on_soon(client)


class Share:
    """The part that one connection has in its client's share."""

    def __init__(
        self, shares: Shares, client: Callable[[], str], go_on: Callable[[], None]
    ) -> None:
        """`client` says whose the connection is; `go_on` reads it again."""
        self._shares = shares
        self._client = client
        self.go_on = go_on
        self._open_bytes = 0

    def must_wait(self) -> bool:
        """Whether no further request may be taken now; the connection goes on by itself."""
        client = self._client()
        if self._shares.has_room(client):
            return False
        self._shares.hold(client, self)
        return True

    def take(self, size: int) -> None:
        """A request of so many bytes is open."""
        self._add(_weight(size))

    def note_taken(self, seconds: float) -> None:
        """A request took the loop for so long."""
        if seconds > _LONG_S:
            self._shares.rest(self._client(), seconds)

    def give_back(self, size: int) -> None:
        """Its answer has left."""
        self._add(-_weight(size))

    def close(self) -> None:
        """The connection is gone."""
        self._shares.leave(self._client(), self)
        self._add(-self._open_bytes)

    def _add(self, size: int) -> None:
        if size:
            self._open_bytes += size
            self._shares.add(self._client(), size)


def _weight(size: int) -> int:
    return _REQUEST_BYTES + _DECODED * size
