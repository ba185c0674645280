"""Properties of a batch that the driver passes to its tasks (outage_log.py, backlog.py, acl_log.py, small_batch.py)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from msgspec import json
from pyspark import TaskContext

from group_coordinator.core.acls.authorizer import Authorizer
from group_coordinator.core.deadlines.outages import Outages
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming import acl_log, outage_log
from group_coordinator.streaming.acl_log import unpacked
from group_coordinator.streaming.backlog import TIMERS_HOLD
from group_coordinator.streaming.operator.output_rows import OutputLimits


def in_this_task(context: UpdateContext) -> UpdateContext:
    """Return the query's context with the properties of this batch."""
    task = TaskContext.get()
    if task is None:
        return context
    outages, timers_hold = (
        task.getLocalProperty(name) for name in (outage_log.PROPERTY, TIMERS_HOLD)
    )
    # Most batches have no properties: no copy is needed.
    if not outages and not timers_hold and not context.checks_acls:
        return context
    return replace(
        context,
        timers_hold=context.timers_hold or bool(timers_hold),
        outages=_decoded(outages) if outages else context.outages,
        acls=_authorizer(task.getLocalProperty(acl_log.PROPERTY)) if context.checks_acls else None,
    )


TAKEN_AT_ONCE = "group.coordinator.taken.at.once"
"""Name of a local property of the driver's thread, which Spark copies to the tasks that the thread starts: OutputLimits
in JSON.
"""


def limits_in_this_task() -> OutputLimits | None:
    """Return the limits of this task's outputs; None: the driver does not collect the batch."""
    task = TaskContext.get()
    text = task.getLocalProperty(TAKEN_AT_ONCE) if task is not None else None
    return json.decode(text, type=OutputLimits) if text else None


# Cached, as a worker handles many groups of the same batch, with the same text.
@lru_cache(maxsize=1)
def _decoded(text: str) -> Outages:
    return json.decode(text, type=Outages)


@lru_cache(maxsize=1)
def _authorizer(text: str | None) -> Authorizer:
    # Without ACLs every operation would be allowed.
    if not text:
        raise RuntimeError("the batch has no ACLs, and must not run without them")
    return Authorizer(unpacked(text))
