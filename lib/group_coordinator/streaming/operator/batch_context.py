"""What a task knows of its batch beside the settings: the driver told it (outage_log.py, backlog.py)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from msgspec import json
from pyspark import TaskContext

from group_coordinator.core.deadlines.outages import Outages
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming.backlog import TIMERS_HOLD
from group_coordinator.streaming.outage_log import PROPERTY


def in_this_task(context: UpdateContext) -> UpdateContext:
    """The query's context as it is in this batch."""
    task = TaskContext.get()
    if task is None:
        return context
    text, timers_hold = task.getLocalProperty(PROPERTY), task.getLocalProperty(TIMERS_HOLD)
    if not text and not timers_hold:
        return context
    return replace(
        context,
        timers_hold=context.timers_hold or bool(timers_hold),
        outages=_decoded(text) if text else context.outages,
    )


@lru_cache(maxsize=1)
def _decoded(text: str) -> Outages:
    return json.decode(text, type=Outages)
