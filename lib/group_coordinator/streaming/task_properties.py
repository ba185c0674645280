"""ACLs and outages of a batch, kept in the checkpoint and given to every task of the batch, as local properties of Spark.

Both are written before the tasks begin, so that a repeated batch gives the same outputs. ACLs are those of the first attempt, even if
they have changed since. They concern all groups and an event only one group: tasks get them apart from the events. An outage that
is added later starts at the time of that batch's plan or after it (clock rule 8).
"""

from __future__ import annotations

import logging
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from threading import Lock
from typing import NamedTuple

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.core.acls import Acls
from group_coordinator.core.deadlines import LateAnswers, Outage, Outages, noted
from group_coordinator.runtime.basis import unpacked_acls
from group_coordinator.streaming.checkpoint.batch_settings import StatesRead, began_with_acls
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import last_done_batch, last_planned_batch
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.source import is_cut

ACLS_PROPERTY = "group.coordinator.acls"
"""Name of a local property of the driver's thread. Spark copies it to the tasks that the thread starts."""

ACLS_CHANGE = "group.coordinator.acls.change"
"""Name of a local property: other ACLs are about to count, so no gateway may count on those of this batch."""

_ACLS_FILE = "acls"

Announce = Callable[[str | None], Mapping[int, int]]
"""Writes Ticks with the basis of these packed ACLs (runtime/basis.py), and returns the offsets behind them, by partition."""


class _NewestAcls(NamedTuple):
    packed: str | None
    from_offsets: Mapping[int, int]
    """By partition. A batch with earlier events keeps the ACLs before; empty: no batch does."""


class AclLog:
    """Current ACLs and the ACLs of the open batch. A thread may set them while another begins batches.

    ACLs that change during a run count from the batch on that starts behind the Ticks of `announce`. The first ACLs of a run do so if
    gateways may have answered by the last ones, and otherwise count at once.
    """

    def __init__(self, spark: SparkSession, folder: CheckpointFolder, announce: Announce) -> None:
        self._spark = spark
        self._folder = folder
        self._announce = announce
        self._is_started = False
        # Two threads write Ticks, and the last Ticks must be those of the newest ACLs.
        self._lock = Lock()
        self._is_announced = True
        self._newest = _NewestAcls(None, {})
        self._pinned = folder.read_newest(_ACLS_FILE)
        self._begun = -1

    def take(self, acls: Acls) -> None:
        """Use these ACLs for batches that begin later. Raises the errors of `announce`, after which the ACLs before stay in force."""
        # A local property is a text, and Spark sends it with every task: compressed, it stays small.
        packed = b64encode(zlib.compress(json.encode(acls))).decode()
        with self._lock:
            if packed == self._newest.packed and self._is_announced:
                return
            from_offsets: Mapping[int, int] = {}
            # The first ACLs of a run need no Ticks of their own: those of the start follow.
            if self._is_started:
                # After a failure some Ticks may be there: then the same ACLs as before are announced again.
                self._is_announced = False
                from_offsets = self._announce(packed)
            self._newest = _NewestAcls(packed, from_offsets)
            self._is_announced = True

    def start(self, announce: Announce) -> Mapping[int, int]:
        """Write the Ticks of a start with `announce`, by the newest ACLs, and return the offsets behind them."""
        with self._lock:
            ends = announce(self._newest.packed)
            # A later start of the same run repeats the announcement.
            if not self._newest.from_offsets and StatesRead(self._folder).is_noted:
                self._newest = self._newest._replace(from_offsets=ends)
            self._is_started = self._is_announced = True
            return ends

    def before_query(self) -> None:
        """Write the ACLs of the query's first batch, unless that batch is open and has ACLs. Before the query's settings.

        Raises DamagedFileError: the ACLs of the open batch cannot be read.
        """
        # The open batch has started with the ACLs in the file, so its repeat must use them too.
        self._begun = last_planned_batch(self._folder)
        is_open, newest = self._begun > last_done_batch(self._folder), self._newest
        if (is_open or self._must_wait(newest, {})) and began_with_acls(self._folder):
            self._check_pinned()
        else:
            self._pin(newest.packed)

    def _check_pinned(self) -> None:
        if self._pinned is None:
            return
        try:
            # A task that cannot read the ACLs would fail without naming the file.
            unpacked_acls(self._pinned)
        except (ValueError, zlib.error) as error:
            raise self._folder.damaged(
                self._folder.newest(_ACLS_FILE) or _ACLS_FILE, error
            ) from error

    def begin(self, batch_id: int, starts: Mapping[int, int]) -> None:
        """Pass the ACLs to the tasks of this batch, by Spark's number and start offsets. The calling thread starts these tasks next."""
        newest = self._newest
        # A repeated batch keeps its ACLs: only a new batch gets the newest.
        if batch_id > self._begun:
            self._begun = batch_id
            if not self._must_wait(newest, starts):
                self._pin(newest.packed)
        # From before the first Tick on: the batch may have events behind it.
        changes = newest.packed != self._pinned or not self._is_announced
        context = self._spark.sparkContext
        context.setLocalProperty(ACLS_PROPERTY, self._pinned or "")
        context.setLocalProperty(ACLS_CHANGE, "true" if changes else "")

    def _must_wait(self, newest: _NewestAcls, starts: Mapping[int, int]) -> bool:
        if self._pinned is None or newest.packed == self._pinned:
            return False
        # A run without ACLs may read the events before its Ticks with those of the last run: they must not be missing.
        return any(
            newest.packed is None or starts.get(partition, 0) < offset
            for partition, offset in newest.from_offsets.items()
        )

    def _pin(self, newest: str | None) -> None:
        if newest == self._pinned:
            return
        # Without ACLs a file of an earlier run must not count.
        if newest is None:
            self._folder.remove(_ACLS_FILE)
        else:
            self._folder.write_next(_ACLS_FILE, newest)
        self._pinned = newest


OUTAGES_PROPERTY = "group.coordinator.outages"
"""Name of a local property of the driver's thread. Spark copies it to the tasks that the thread starts."""

_OUTAGES_FILE = "outages"
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
        self._outages: Outages = folder.read_newest_as(_OUTAGES_FILE, Outages) or ()
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
        self._spark.sparkContext.setLocalProperty(OUTAGES_PROPERTY, outages)

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
        self._folder.write_next(_OUTAGES_FILE, json.encode(self._outages).decode())
