"""Logins that failed: the next ones from the same address wait, so that nobody tries many passwords."""

from __future__ import annotations

from collections import OrderedDict

MOST_WAIT_S = 10.0
"""Clients give up a login after 30 s; others behind the same address must still get in."""
_REMEMBERED = 10_000
"""Addresses; of one more the one that failed longest ago is forgotten."""


class FailedLogins:
    """Each failure adds to the wait of its address, which time takes away again."""

    def __init__(self, delay_ms: int) -> None:
        self._delay_s = delay_ms / 1000
        self._until_s: OrderedDict[str, float] = OrderedDict()

    def note(self, host: str, now_s: float) -> None:
        """One more from there."""
        begin_s = max(self._until_s.pop(host, now_s), now_s)
        self._until_s[host] = min(begin_s + self._delay_s, now_s + MOST_WAIT_S)
        if len(self._until_s) > _REMEMBERED:
            self._until_s.popitem(last=False)

    def wait_s(self, host: str, now_s: float) -> float:
        """How long the next login from there waits."""
        return max(self._until_s.get(host, now_s) - now_s, 0.0)
