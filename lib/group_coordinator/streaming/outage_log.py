"""The outages of the coordinator: kept in its checkpoint, and known to every task of a batch (clock rule 8).

A batch that is done again comes to the same: what it knew was written down before. What is added later begins when it was
planned or after that, so nothing that it decided would be decided otherwise with what became known later.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.deadlines.outages import LateAnswers, Outage, Outages, noted
from group_coordinator.streaming.backlog import is_cut
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import last_planned_batch
from group_coordinator.streaming.checkpoint.plans import Plans

PROPERTY = "group.coordinator.outages"
"""Spark gives such a property of the driver's thread to the tasks that the thread begins."""

_FILE = "outages"


class OutageLog:
    """Knows all outages; one thread may add to them while another one begins batches.

    Args:
        spark: the session.
        folder: the checkpoint.
        plans: of the batches.
        rest_after: for how many milliseconds a batch lay idle before it ended, by Spark's number.
        limit: max.offsets.per.trigger; 0: there is none.

    Raises:
        DamagedFileError: what is kept of them does not say so.
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
        self._late_answers = LateAnswers()
        self._lock = Lock()
        self._outages: Outages = folder.read_newest_as(_FILE, Outages) or ()
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
        """Remember that answers were late, if this batch, by Spark's number, ends such a wait.

        A batch of an earlier run knew what it knew.
        """
        if batch_id <= self._last_of_an_earlier_run:
            return
        before_ms, now_ms = self._planned(batch_id - 1), self._planned(batch_id)
        if before_ms is None or now_ms is None:
            return
        asked_ms = self._planned(batch_id - 2)
        wait = self._late_answers.until(
            now_ms - self._rest_after(batch_id - 1),  # while it lay idle nobody asked
            before_ms,
            before_ms if asked_ms is None else asked_ms,
            was_cut=is_cut(self._plans, batch_id - 1, self._limit),
        )
        if wait is not None:
            with self._lock:
                self._add(wait)

    def _planned(self, batch_id: int) -> int | None:
        plan = self._plans.of(batch_id)
        return None if plan is None else plan.at_ms

    def _add(self, outage: Outage) -> None:
        outages = noted(self._outages, outage)
        if outages == self._outages:
            return
        self._outages = outages
        self._folder.write_next(_FILE, json.encode(self._outages).decode())
