"""Outages: while a member could not be heard, or not be answered, its time does not run.

A member that waits for an answer sends no heartbeat, and one that cannot reach its coordinator sends nothing at all.
Kafka's coordinator answers at once; and when a broker has loaded a group, after a crash or a move, every member has its
whole session timeout again (onLoaded in Kafka 4.4's GroupMetadataManager).

Timers stay as they were set; only when they run out depends on outages. So a timer that is set anew in time is as if
there had been none, and whoever falls silent while answers are late runs out of time all the same.
"""

from __future__ import annotations

from group_coordinator.core.model.timers import Timer
from group_coordinator.core.value import Value


class Outage(Value, frozen=True):
    """From `from_ms` on and before `to_ms` members could not do what a timer waits for.

    Without `was_heard` no event could come, and every timer that ran meanwhile begins anew at the end. With it events
    came and were answered late: a timer that was set meanwhile begins at the end, when its member had its answer.
    """

    from_ms: int
    to_ms: int
    was_heard: bool


Outages = tuple[Outage, ...]
"""In the order of their ends; they may overlap."""


def due_after(timer: Timer, outages: Outages) -> int:
    """When the timer runs out, with these outages."""
    begin_ms, length_ms = timer.armed_ms, timer.due_ms - timer.armed_ms
    for outage in outages:
        # By when it was set: one late answer follows the other, and each one ends one wait.
        if outage.was_heard and outage.from_ms <= timer.armed_ms < outage.to_ms:
            begin_ms = max(begin_ms, outage.to_ms)
    for outage in outages:
        ran = begin_ms < outage.to_ms and outage.from_ms < begin_ms + length_ms
        if ran and not outage.was_heard:
            begin_ms = outage.to_ms
    return begin_ms + length_ms


def since(armed_ms: int, outages: Outages) -> Outages:
    """Those that can concern timers which were set at this time or later."""
    return tuple(outage for outage in outages if outage.to_ms > armed_ms)
