"""The outages of the coordinator: kept in its checkpoint, and known to every task of a batch (clock rule 8).

A batch that is done again comes to the same. What it knew was written down before; what is added later begins after it
was planned, or concerns only timers that its own events have set.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.deadlines.outages import Outage, Outages
from group_coordinator.streaming.backlog import is_cut
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import last_planned_batch
from group_coordinator.streaming.checkpoint.plans import Plans

PROPERTY = "group.coordinator.outages"
"""Spark gives such a property of the driver's thread to the tasks that the thread begins."""

SLOW_MS = 2_000
"""Batches that follow each other more slowly let members wait for answers."""

_FILE = "outages"
_KEPT = 100
"""A timer that is older than the oldest of them may run out too early."""


class OutageLog:
    """Knows all outages; one thread may add to them while another one begins batches.

    Args:
        spark: the session.
        folder: the checkpoint.
        plans: of the batches.
        rest_after: for how many milliseconds a batch lay idle before it ended, by Spark's number.
        limit: max.offsets.per.trigger; 0: there is none.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: CheckpointFolder,
        plans: Plans,
        rest_after: Callable[[int], int] = lambda _batch_id: 0,
        limit: int = 0,
    ) -> None:
        self._spark = spark
        self._folder = folder
        self._plans = plans
        self._rest_after = rest_after
        self._limit = limit
        self._backlog_from_ms: int | None = None
        """Since when events may have waited for more than one batch."""
        self._lock = Lock()
        text = folder.read_newest(_FILE)
        self._outages: Outages = () if text is None else json.decode(text, type=Outages)
        self._last_of_an_earlier_run = last_planned_batch(folder)
        self._begun_ms = 0

    def add(self, outage: Outage) -> None:
        """Remember an outage for the batches that begin from now on: the part of it that comes after the last one."""
        with self._lock:
            self._add(Outage(max(outage.from_ms, self._begun_ms), outage.to_ms, outage.was_heard))

    def begin(self, batch_id: int) -> None:
        """Let the tasks of this batch, by Spark's number, know the outages; this thread begins them next."""
        with self._lock:
            self._begun_ms = self._planned(batch_id) or self._begun_ms
            outages = json.encode(self._outages).decode() if self._outages else ""
        self._spark.sparkContext.setLocalProperty(PROPERTY, outages)

    def add_wait_for(self, batch_id: int) -> None:
        """Remember that answers were late, if the batch was planned long after the one before it, or has a backlog.

        Late were the answers of that one too. With a backlog an event waits from before the first batch that was cut. A batch of an earlier run knew what it knew.
        """
        if batch_id <= self._last_of_an_earlier_run:
            return
        before_ms, now_ms = self._planned(batch_id - 1), self._planned(batch_id)
        if before_ms is None or now_ms is None:
            return
        # While it lay idle nobody asked.
        now_ms -= self._rest_after(batch_id - 1)
        asked_ms = self._planned(batch_id - 2)
        from_ms = before_ms if asked_ms is None else asked_ms
        if not is_cut(self._plans, batch_id - 1, self._limit):
            self._backlog_from_ms = None
        elif self._backlog_from_ms is None:
            self._backlog_from_ms = from_ms
        late_since_ms = before_ms if self._backlog_from_ms is None else self._backlog_from_ms
        if now_ms - late_since_ms <= SLOW_MS:
            return
        with self._lock:
            self._add(Outage(min(from_ms, late_since_ms), now_ms, was_heard=True))

    def _planned(self, batch_id: int) -> int | None:
        plan = self._plans.of(batch_id)
        return None if plan is None else plan.at_ms

    def _add(self, outage: Outage) -> None:
        if outage.from_ms >= outage.to_ms or outage in self._outages:
            return
        others = (known for known in self._outages if not _covers(outage, known))
        outages = sorted((*others, outage), key=lambda known: known.to_ms)
        self._outages = tuple(outages[-_KEPT:])
        self._folder.write_next(_FILE, json.encode(self._outages).decode())


def _covers(outage: Outage, known: Outage) -> bool:
    """Whether late answers are known as part of a longer wait: a backlog has one outage, which grows."""
    return (
        outage.was_heard
        and known.was_heard
        and outage.from_ms <= known.from_ms
        and known.to_ms <= outage.to_ms
    )
