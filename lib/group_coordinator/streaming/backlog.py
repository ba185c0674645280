"""While a backlog is read, timers hold: the heartbeat that keeps a member alive may still be unread (clock rule 6).

A batch that the rate limit cut short leaves events unread that were there when it was planned. Whether it is one follows
from its plan and the limit, both of which are written down before it begins: a batch that is done again decides the same.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from group_coordinator.runtime.group_call import RETRY_MS
from group_coordinator.streaming.checkpoint.plans import Plans

TIMERS_HOLD = "group.coordinator.timers.hold"
"""Spark gives such a property of the driver's thread to the tasks that the thread begins."""


def is_cut(plans: Plans, batch_id: int, limit: int) -> bool:
    """Whether a batch may have left events unread, by its plan: Spark shares a limit out, and rounds each share down.

    Args:
        plans: of the batches.
        batch_id: Spark's number.
        limit: max.offsets.per.trigger; 0: there is none.
    """
    if not limit:
        return False
    taken = plans.ranges_of(batch_id)
    count = sum(len(offsets) for _, offsets in taken)
    return count > 0 and count >= limit - len(taken)


class Backlog:
    """Knows which batches the limit has cut short.

    Args:
        limit: max.offsets.per.trigger; 0: there is none.
    """

    def __init__(self, spark: SparkSession, plans: Plans, limit: int) -> None:
        self._spark = spark
        self._plans = plans
        self._limit = limit
        self.retries_end_ms = 0
        """A batch after this time has fired every timer that was put off."""

    def begin(self, batch_id: int) -> None:
        """Let the tasks of this batch, by Spark's number, know whether timers hold; this thread begins them next."""
        holds = is_cut(self._plans, batch_id, self._limit)
        self._spark.sparkContext.setLocalProperty(TIMERS_HOLD, "true" if holds else "")
        plan = self._plans.of(batch_id)
        if holds and plan is not None:
            self.retries_end_ms = plan.at_ms + RETRY_MS
