"""While a backlog is read, timers hold: the heartbeat that keeps a member alive may still be unread (clock rule 6).

A batch that the rate limit cut short leaves events unread that were there when it was planned. Whether it is one follows
from its plan and the limit, both of which are written down before it begins: a batch that is done again decides the same.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import SparkSession

from group_coordinator.runtime.group_call import RETRY_MS
from group_coordinator.streaming.checkpoint.plans import Plans

TIMERS_HOLD = "group.coordinator.timers.hold"
"""Spark gives such a property of the driver's thread to the tasks that the thread begins."""


def is_cut(plans: Plans, batch_id: int, limit: int) -> bool:
    """Whether a batch may have left events unread, by its plan.

    Args:
        plans: of the batches.
        batch_id: Spark's number.
        limit: max.offsets.per.trigger; 0: there is none.
    """
    return bool(limit) and may_be_cut([len(taken) for _, taken in plans.ranges_of(batch_id)], limit)


def may_be_cut(taken: Collection[int], limit: int) -> bool:
    """Whether a limit may have left events unread.

    Spark shares it out to the partitions that have events, as each of them has many. A share is rounded down, but is one
    event at least.

    Args:
        taken: the number of events of each partition.
        limit: of a batch, at least 1. Up to `lowest_limit` it takes batches for cut that have one event a partition.
    """
    shares = sum(1 for count in taken if count)
    return shares > 0 and sum(taken) >= limit - shares


def lowest_limit(partitions: int) -> int:
    """The lowest limit with which a batch of one event in each of so many partitions is not taken for one that was cut."""
    return 2 * partitions + 1


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
