"""An event loop whose time the test lets pass: timers of hours fire at once, and none by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

_ROUNDS = 5
"""So many callbacks of callbacks have run when time has passed."""


class HandClock(asyncio.SelectorEventLoop):
    """Time stands still until somebody awaits `passes`."""

    now_s = 0.0

    def time(self) -> float:
        return self.now_s

    async def passes(self, seconds: float) -> None:
        self.now_s += seconds
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)


def by_hand(scene: Callable[[HandClock], Coroutine[Any, Any, None]]) -> None:
    """Play a scene in a loop of its own."""
    with asyncio.Runner(loop_factory=HandClock) as runner:
        clock = runner.get_loop()
        assert isinstance(clock, HandClock)
        runner.run(scene(clock))
