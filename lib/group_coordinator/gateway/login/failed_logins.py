"""Back-off after failed logins: the next login from the same address waits, so that passwords cannot be guessed quickly."""

from __future__ import annotations

from collections import OrderedDict

MOST_WAIT_S = 10.0
"""Longest wait. Clients give up a login after 30 s; other clients of the same address must still get in."""
_REMEMBERED = 10_000
"""Limit of remembered addresses; the address with the oldest failure is forgotten."""


class FailedLogins:
    """Waiting times by address. Each failure adds to the wait, and time reduces it."""

    def __init__(self, delay_ms: int) -> None:
        self._delay_s = delay_ms / 1000
        self._until_s: OrderedDict[str, float] = OrderedDict()

    def note(self, host: str, now_s: float) -> None:
        """Add a failure of the host."""
        begin_s = max(self._until_s.pop(host, now_s), now_s)
        self._until_s[host] = min(begin_s + self._delay_s, now_s + MOST_WAIT_S)
        if len(self._until_s) > _REMEMBERED:
            self._until_s.popitem(last=False)

    def wait_s(self, host: str, now_s: float) -> float:
        """Seconds that the next login from the host waits."""
        return max(self._until_s.get(host, now_s) - now_s, 0.0)
