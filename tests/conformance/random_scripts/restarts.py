"""Random scripts in which the coordinator restarts now and then."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tests.conformance.language.lines import LATEST, LIVE, WHOLE, Json, Line, Story

FIRST: Final = 6
"""The number of lines before the first restart."""

CHANGED: Final = (("group.max.size", ("1", "2", "100")), ("group.consumer.max.size", ("1", "100")))
"""Settings that a restart may change."""


def restarted(story: Story, seed: int) -> Story:
    """Put restarts, drawn from the seed, between the lines of a script."""
    chance = random.Random(seed)  # noqa: S311 - any script will do
    return replace(story, lines=tuple(_Restarts(story, chance).lines()))


class _Restarts:
    """Restarts at sweeps of expired offsets; the lines after a restart are later by the time until that sweep."""

    def __init__(self, story: Story, chance: random.Random) -> None:
        self._story = story
        self._random = chance
        self._sweep_ms = int(story.settings["offsets.retention.check.interval.ms"])
        # What a cleaner leaves of transactions follows from their markers: here it leaves them alone.
        apis = {line.text["event"]["api"] for line in story.lines if "event" in line.text}
        self._logs = (WHOLE,) if apis & {"TxnOffsetCommit", "EndTxn"} else (WHOLE, LATEST, LIVE)

    def lines(self) -> Iterator[Line]:
        later_ms = now_ms = 0
        for number, line in enumerate(self._story.lines):
            if number >= FIRST and self._random.random() < 0.06:
                restart_ms = -(-now_ms // self._sweep_ms) * self._sweep_ms
                later_ms += restart_ms - now_ms
                yield Line(self._restart(restart_ms))
            at_ms = line.text.get("at")
            now_ms = now_ms if at_ms is None else at_ms + later_ms
            yield line if at_ms is None else replace(line, text=line.text | {"at": now_ms})

    def _restart(self, at_ms: int) -> Json:
        changed = {
            name: self._random.choice(values)
            for name, values in CHANGED
            if self._random.random() < 0.2
        }
        return {"at": at_ms, "restart": changed, "log": self._random.choice(self._logs)}
