"""Rests while nothing happens: a batch costs the same whether it has something to do or not.

The rest lies between the writes of a batch and its end, and grows with the time since there was an event other than our own
Ticks, or anything came out of a batch. Nobody knows here when the next deadline is due; but it was set by an event, or by a
deadline that something came out of. So it is late by no more than a tenth of the time that it was set for. An event ends the
rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from group_coordinator.streaming.checkpoint.plans import Offsets, Plans
from group_coordinator.streaming.small_batch import BatchCounts

_SHARE = 10
"""A rest is at most this part of the time without outputs."""
_NOTHING = BatchCounts()
_TICKS_KEPT = 10
"""Of the last minutes: the clock is looked at once a minute."""

AwaitEvents = Callable[[Offsets, float, Callable[[], bool]], float]
"""Returns when the events topic has events behind these offsets, after these seconds, or once the last says so.

It tells for how many seconds it has looked, and found none.
"""


class Rest:
    """Rests after batches that nothing was in, and nothing came out of.

    Args:
        plans: of the batches.
        note_empty: remembers that nothing came out of a batch; it does not end before the rest does.
        await_events: ends a rest as soon as there is something to do.
        shortest_ms: trigger.interval.ms, which Spark waits by itself.
        longest_ms: idle.interval.ms.
    """

    def __init__(
        self,
        plans: Plans,
        note_empty: Callable[[int], None],
        await_events: AwaitEvents,
        shortest_ms: int,
        longest_ms: int,
    ) -> None:
        self._plans = plans
        self._note_empty = note_empty
        self._await_events = await_events
        self._shortest_s = shortest_ms / 1000
        self._longest_s = longest_ms / 1000
        self._busy_s = time.monotonic()
        self._rested_ms: tuple[int, int] = (-1, 0)
        self._ticks: tuple[Mapping[int, int], ...] = ()

    def after(self, batch_id: int, counts: BatchCounts, must_go_on: Callable[[], bool]) -> None:
        """Rest after this batch, by Spark's number, if it is time to; not longer than until `must_go_on`."""
        now_s = time.monotonic()
        if counts != _NOTHING or self._had_events(batch_id):
            self._busy_s = now_s
        rest_s = min((now_s - self._busy_s) / _SHARE, self._longest_s)
        plan = self._plans.of(batch_id)
        if rest_s <= self._shortest_s or plan is None:
            return
        self._note_empty(batch_id)
        rested_s = self._await_events(plan.ends, rest_s, must_go_on)
        self._rested_ms = batch_id, round(rested_s * 1000)

    def note_ticks(self, ends: Mapping[int, int]) -> None:
        """Remember Ticks that were written, by the offset behind each: they are no reason not to rest."""
        self._ticks = (*self._ticks[1 - _TICKS_KEPT :], ends)

    def _had_events(self, batch_id: int) -> bool:
        return any(
            len(offsets) > self._ticks_in(partition, offsets)
            for partition, offsets in self._plans.ranges_of(batch_id)
        )

    def _ticks_in(self, partition: int, offsets: range) -> int:
        return sum(ticks.get(partition, 0) - 1 in offsets for ticks in self._ticks)

    def ms_after(self, batch_id: int) -> int:
        """How long this batch, by Spark's number, kept nobody waiting though it had not ended."""
        rested_batch_id, rested_ms = self._rested_ms
        return rested_ms if rested_batch_id == batch_id else 0


def no_rest(batch_id: int, counts: BatchCounts, must_go_on: Callable[[], bool]) -> None:
    """For a run that ends by itself."""
