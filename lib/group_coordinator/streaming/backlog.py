"""Suspension of timers while a backlog is read: the heartbeat that keeps a member alive may be unread (clock rule 6).

A batch that the rate limit cut short leaves events unread that existed when it was planned. The batch's plan and the
limit decide this. Both are written before the batch begins, so a repeated batch decides the same.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from pyspark.sql import SparkSession

from group_coordinator.runtime.group_call import RETRY_MS
from group_coordinator.streaming.checkpoint.plans import Plans

TIMERS_HOLD = "group.coordinator.timers.hold"
"""Name of a local property of the driver's thread. Spark copies it to the tasks that the thread starts."""


_log = logging.getLogger(__name__)


def is_cut(plans: Plans, batch_id: int, limit: int) -> bool:
    """Return True if a batch may have left events unread, by its plan.

    Args:
        plans: the offset log.
        batch_id: Spark's number.
        limit: max.offsets.per.trigger; 0: no limit.
    """
    return bool(limit) and may_be_cut([len(taken) for _, taken in plans.ranges_of(batch_id)], limit)


def may_be_cut(taken: Collection[int], limit: int) -> bool:
    """Return True if a limit may have left events unread.

    Spark divides the limit among the partitions that have events, in proportion to their events. A share is rounded
    down, but is at least one event.

    Args:
        taken: the number of events of each partition.
        limit: of a batch, at least 1. Below `lowest_limit`, a batch of one event per partition counts as cut.
    """
    shares = sum(1 for count in taken if count)
    # Each rounding loses less than one event, so a cut batch has at least the limit minus one event per partition.
    return shares > 0 and sum(taken) >= limit - shares


def lowest_limit(partitions: int) -> int:
    """Return the lowest limit with which a batch of one event per partition does not count as cut."""
    return 2 * partitions + 1


class Backlog:
    """Suspends timers for the batches that the limit cut short.

    Args:
        limit: max.offsets.per.trigger; 0: no limit.
    """

    def __init__(self, spark: SparkSession, plans: Plans, limit: int) -> None:
        self._spark = spark
        self._plans = plans
        self._limit = limit
        self.retries_end_ms = 0
        """A batch after this time has fired every suspended timer."""

    def begin(self, batch_id: int) -> None:
        """Tell the tasks of this batch, by Spark's number, if timers are suspended.

        The calling thread starts these tasks next.
        """
        holds = is_cut(self._plans, batch_id, self._limit)
        self._spark.sparkContext.setLocalProperty(TIMERS_HOLD, "true" if holds else "")
        # Suspended timers are retried after RETRY_MS, counted from the time of the batch that suspended them.
        plan = self._plans.of(batch_id)
        _log.debug("spark_batch=%d timers_suspended=%s limit=%d", batch_id, holds, self._limit)
        if holds and plan is not None:
            self.retries_end_ms = plan.at_ms + RETRY_MS
