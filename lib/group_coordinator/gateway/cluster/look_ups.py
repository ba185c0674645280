"""Questions about topics that the gateway does not know: one at a time for all who wait, and only so often, whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from time import monotonic
from typing import NamedTuple

_MOST_TOPICS = 1_000
"""Of one question. What is above it stays unknown until the gateway looks at all topics."""


class Wanted(NamedTuple):
    """A topic, by name or by id."""

    field: str
    """Of a MetadataRequest: name or topicId."""
    value: str


class LookUps:
    """Nobody can make the brokers, or this process, answer more of these questions than the interval allows."""

    def __init__(
        self, look: Callable[[Sequence[Wanted]], Awaitable[Collection[Wanted]]], interval_s: float
    ) -> None:
        """`look` asks the brokers, and returns which topics are not there."""
        self._look = look
        self._interval_s = interval_s
        self._wanted: dict[Wanted, None] = {}
        self._coming: asyncio.Task[None] | None = None
        self._one_by_one = asyncio.Lock()
        self._next_s = 0.0
        self._missing_until_s: dict[Wanted, float] = {}
        """Topics that were not there a moment ago, those that are forgotten first at the beginning."""

    async def take(self, wanted: Iterable[Wanted]) -> None:
        """Return when the brokers have been asked, at once if all of them were missing a moment ago."""
        self._forget_lapsed()
        unknown = [each for each in wanted if each not in self._missing_until_s]
        if not unknown:
            return
        self._wanted |= dict.fromkeys(unknown[: max(0, _MOST_TOPICS - len(self._wanted))])
        if self._coming is None:
            self._coming = asyncio.create_task(self._ask())
        look = self._coming
        await asyncio.wait([look])  # who goes meanwhile takes it from nobody else
        look.result()  # a defect is nobody's answer

    async def _ask(self) -> None:
        async with self._one_by_one:
            await asyncio.sleep(max(0.0, self._next_s - monotonic()))
            wanted = [*self._wanted]
            self._wanted.clear()
            self._coming = None
            try:
                missing = await self._look(wanted)
            finally:
                self._next_s = monotonic() + self._interval_s
            self._missing_until_s |= dict.fromkeys(missing, self._next_s)

    def _forget_lapsed(self) -> None:
        now_s = monotonic()
        lapsed = [each for each, until_s in self._missing_until_s.items() if until_s <= now_s]
        for each in lapsed:
            del self._missing_until_s[each]
