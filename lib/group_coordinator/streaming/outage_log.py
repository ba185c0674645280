"""The outages of the coordinator, kept in its checkpoint and given to every task of a batch (clock rule 8).

A repeated batch gives the same outputs, because its outages were written before. An outage that is added later starts at the time
of that batch's plan or after it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.deadlines import LateAnswers, Outage, Outages, noted
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import last_planned_batch
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.source import is_cut

PROPERTY = "group.coordinator.outages"
"""Name of a local property of the driver's thread. Spark copies it to the tasks that the thread starts."""

_FILE = "outages"
_log = logging.getLogger(__name__)


class OutageLog:
    """All outages. A thread may add to them while another begins batches.

    `rest_after` has the milliseconds that a batch, by Spark's number, was idle before it ended; `limit` is max.offsets.per.trigger.
    Raises DamagedFileError: the file of the outages cannot be read.
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
        """Add an outage for the batches that begin from now on: the part of it after the last batch."""
        with self._lock:
            # A batch that has begun must give the same outputs when it is repeated, so its time stays unchanged.
            self._add(Outage(max(outage.from_ms, self._begun_ms), outage.to_ms, outage.was_heard))

    def begin(self, batch_id: int) -> None:
        """Pass the outages to the tasks of this batch, by Spark's number. The calling thread starts these tasks next."""
        with self._lock:
            self._begun_ms = self._planned(batch_id) or self._begun_ms
            outages = json.encode(self._outages).decode() if self._outages else ""
        self._spark.sparkContext.setLocalProperty(PROPERTY, outages)

    def add_wait_for(self, batch_id: int) -> None:
        """Add an outage for late responses, if this batch, by Spark's number, ends such a delay. Earlier runs' batches keep theirs."""
        if batch_id <= self._last_of_an_earlier_run:
            return
        before_ms, now_ms = self._planned(batch_id - 1), self._planned(batch_id)
        if before_ms is None or now_ms is None:
            return
        asked_ms = self._planned(batch_id - 2)
        wait = self._late_answers.until(
            # While the last batch was idle there were no requests.
            now_ms - self._rest_after(batch_id - 1),
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
        _log.debug("outage=%s members=start-again", outage)
        self._outages = outages
        self._folder.write_next(_FILE, json.encode(self._outages).decode())
