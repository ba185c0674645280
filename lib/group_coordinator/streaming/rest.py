"""Idle back-off: the time between batches grows while no events arrive, as an empty batch costs as much as a full batch.

The pause lies between the writes of a batch and its end, and grows with the time since the last event other than our
own Ticks, or since the last outputs of a batch. The next deadline is unknown here; but it was set by an event, or by a
timer with outputs. So a timer fires late by at most a tenth of its length. An event ends the pause.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from group_coordinator.streaming.checkpoint.plans import Offsets, Plans
from group_coordinator.streaming.small_batch import BatchCounts

_SHARE = 10
"""Quotient of the time without outputs and the longest pause."""
_NOTHING = BatchCounts()
# Ticks of the last minutes, as the Tick is written once a minute.
_TICKS_KEPT = 10
_log = logging.getLogger(__name__)

AwaitEvents = Callable[[Offsets, float, Callable[[], bool]], float]
"""Waits for events behind these offsets, for these seconds, or until the last function returns True.

Returns the seconds without events.
"""


class Rest:
    """Pauses after batches without events and outputs.

    Args:
        plans: the offset log.
        note_empty: notes that a batch has no outputs; the batch does not end before the pause does.
        await_events: ends a pause as soon as there are events.
        shortest_ms: trigger.interval.ms, for which Spark itself waits.
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
        """Pause after this batch, by Spark's number, if it is due; at most until `must_go_on`."""
        now_s = time.monotonic()
        if counts != _NOTHING or self._had_events(batch_id):
            self._busy_s = now_s
        # A tenth of the idle time: a timer is late by at most a tenth of its own length.
        rest_s = min((now_s - self._busy_s) / _SHARE, self._longest_s)
        plan = self._plans.of(batch_id)
        if rest_s <= self._shortest_s or plan is None:
            return
        self._note_empty(batch_id)
        rested_s = self._await_events(plan.ends, rest_s, must_go_on)
        self._rested_ms = batch_id, round(rested_s * 1000)
        _log.debug("spark_batch=%d idle_s=%.3f of=%.3f", batch_id, rested_s, rest_s)

    def note_ticks(self, ends: Mapping[int, int]) -> None:
        """Remember written Ticks, by the offset behind each, as they do not count as events."""
        self._ticks = (*self._ticks[1 - _TICKS_KEPT :], ends)

    def _had_events(self, batch_id: int) -> bool:
        return any(
            # A batch of Ticks alone had no client events.
            len(offsets) > self._ticks_in(partition, offsets)
            for partition, offsets in self._plans.ranges_of(batch_id)
        )

    def _ticks_in(self, partition: int, offsets: range) -> int:
        return sum(ticks.get(partition, 0) - 1 in offsets for ticks in self._ticks)

    def ms_after(self, batch_id: int) -> int:
        """Return the milliseconds for which this batch, by Spark's number, was idle before it ended."""
        rested_batch_id, rested_ms = self._rested_ms
        return rested_ms if rested_batch_id == batch_id else 0


def no_rest(batch_id: int, counts: BatchCounts, must_go_on: Callable[[], bool]) -> None:
    """Return at once: for a run that ends by itself."""
