"""What a client may do, as its broker says: asked on the client's own connection, which has its login."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import takewhile
from time import monotonic

from group_coordinator.core.acls.rule import Right
from group_coordinator.gateway.remembered import Remembered
from group_coordinator.gateway.rights.rights_questions import AskBroker, allowed

GRANT_LASTS_S = 30.0
_MOST_BYTES = 2 * 1024 * 1024
"""Of the grants of one connection, about 9,000; those that are forgotten are asked for anew."""


class Rights:
    """Of one connection. What is granted is remembered for a while, what is not is asked for each time."""

    def __init__(self, ask: AskBroker, is_checked: Callable[[], bool]) -> None:
        """`is_checked` says whether brokers know rights at all."""
        self._ask = ask
        self._is_checked = is_checked
        self._granted_until_s: Remembered[Right, float] = Remembered(_MOST_BYTES)
        """Those that lapse first at the beginning."""

    def are_known(self, wanted: Collection[Right]) -> bool:
        """Whether all of them are granted, as far as one remembers."""
        return not self.is_checked or not self._unknown(wanted)

    @property
    def is_checked(self) -> bool:
        """Whether there is anything to ask for."""
        return self._is_checked()

    async def denied(self, wanted: Collection[Right]) -> frozenset[Right]:
        """Those that the client does not have.

        Raises:
            WireError: the broker's answer does not parse.
        """
        if not self.is_checked:
            return frozenset()
        unknown = self._unknown(wanted)
        granted = await allowed(self._ask, unknown)
        self._remember(granted)
        return frozenset(unknown) - granted

    def _unknown(self, wanted: Iterable[Right]) -> list[Right]:
        now_s = monotonic()
        return [
            right
            for right in dict.fromkeys(wanted)
            if (self._granted_until_s.get(right) or 0.0) <= now_s
        ]

    def _remember(self, granted: Collection[Right]) -> None:
        now_s = monotonic()
        lapsed = takewhile(lambda grant: grant[1] <= now_s, self._granted_until_s.items())
        for right in [right for right, _ in lapsed]:
            self._granted_until_s.pop(right)
        for right in granted:
            self._granted_until_s[right] = now_s + GRANT_LASTS_S
