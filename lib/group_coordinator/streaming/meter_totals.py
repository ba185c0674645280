"""Exact totals of the meters after any end of a run, although no batch waits for a file of them.

The totals are written now and then, with their last batch; the batches since then are counted in the tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Protocol, TypeVar

from msgspec import Struct, field, json
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from group_coordinator.runtime.meters import meter_of
from group_coordinator.runtime.outputs import RebalancingLine
from group_coordinator.runtime.update_group import DEFECT
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.small_batch import (
    DEFECTS_METER,
    DENIALS_METER,
    LETTERS_METER,
    BatchMeters,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.failed_events import DEAD_LETTERS, DENIALS

Content = TypeVar("Content")

CountTables = Callable[[int, int], Mapping[str, int]]
"""Returns the increments of the batches between two others, both exclusive."""

_FOLDER = "meters"
_COUNTED_ANEW = (
    "restore a copy of it, or delete it: the totals are then counted again from the tables"
)

_decode_line = json.Decoder(RebalancingLine).decode


class TotalsFiles(Protocol):
    """The part of CheckpointFolder that totals need."""

    def read_newest_as(self, name: str, kind: type[Content], remedy: str) -> Content | None: ...

    def write_next(self, name: str, text: str) -> None: ...


class Totals(Struct):
    """Totals up to a batch, by its number in the tables. `rebalancing` is a state by group."""

    batch_id: int = -1
    counts: dict[str, int] = field(default_factory=dict)
    rebalancing: dict[str, str] = field(default_factory=dict)


class MeterTotals:
    """Adder of the batches' increments, in the thread that writes them. Another adds missing batches and writes the totals.

    `count_tables` is called once at most, and only if the run before was killed or had no meters.
    Raises DamagedFileError: the file of the totals cannot be read.
    """

    def __init__(self, files: TotalsFiles, count_tables: CountTables) -> None:
        self._files = files
        self._count_tables = count_tables
        self._lock = Lock()
        self._totals = files.read_newest_as(_FOLDER, Totals, _COUNTED_ANEW) or Totals()
        self._kept = self._totals.batch_id
        self._first: int | None = None
        """First batch of this run; None: no batch yet."""
        self._is_whole = False

    def add(self, batch_id: int, meters: BatchMeters) -> bool:
        """Add a batch, by its number in the tables; return False if it was added before."""
        with self._lock:
            totals = self._totals
            # A repeated batch was counted before.
            if batch_id <= totals.batch_id:
                return False
            if self._first is None:
                self._begin(batch_id)
            totals.batch_id = batch_id
            totals.counts = dict(Counter(totals.counts) + Counter(meters.counts))
            for said in map(_decode_line, meters.rebalancing):
                totals.rebalancing.pop(said.group_id, None)
                if said.state is not None:
                    totals.rebalancing[said.group_id] = said.state
            return True

    def _begin(self, batch_id: int) -> None:
        self._first = batch_id
        # The kept totals reach to the batch before the first batch of this run: nothing is missing.
        self._is_whole = self._kept == batch_id - 1
        if not self._is_whole:
            # A group that still rebalances reports it again. An end that was missed would never be reported.
            self._totals.rebalancing.clear()

    def make_up(self) -> None:
        """Add the batches between the kept totals and the first batch of this run."""
        if self._first is None or self._is_whole:
            return
        # Outside of the lock, as the query may take long and the batches must not wait.
        missing = Counter(self._count_tables(self._kept, self._first))
        with self._lock:
            self._totals.counts = dict(Counter(self._totals.counts) + missing)
            self._is_whole = True

    def keep(self) -> None:
        """Write the totals, if they are complete and have changed."""
        with self._lock:
            if not self._is_whole or self._totals.batch_id == self._kept:
                return
            # Under the lock only the text is made: the write may take long, and batches must not wait for it.
            batch_id, text = self._totals.batch_id, json.encode(self._totals).decode()
        self._files.write_next(_FOLDER, text)
        self._kept = batch_id

    def counts(self) -> Mapping[str, int] | None:
        """Return the totals by meter; None: not all batches are counted yet."""
        with self._lock:
            return dict(self._totals.counts) if self._is_whole else None

    def rebalancing(self) -> Mapping[str, str]:
        """Return the states of the classic groups that rebalance."""
        with self._lock:
            return dict(self._totals.rebalancing)


def counted_in_tables(
    spark: SparkSession, job: JobSettings, after: int, before: int
) -> Counter[str]:
    """Return the increments of the batches between two others, by the rows that they have written."""
    catalog = TableCatalog(job.tables_root)
    is_between = (
        (F.col("cluster_id") == job.cluster_id)
        & (F.col("batch_id") > after)
        & (F.col("batch_id") < before)
    )

    def counted(table: str, *kinds: Column) -> list[tuple[Any, ...]]:
        rows = catalog.read(spark, table).where(is_between)
        return [tuple(row) for row in rows.groupBy(*kinds).count().collect()]

    found: Counter[str] = Counter()
    kinds = F.col("record_type"), F.col("reason"), F.col("value").isNull()
    for record_type, reason, is_tombstone, number in counted(COORDINATOR_LOG.name, *kinds):
        meter = meter_of(record_type, reason, is_tombstone=is_tombstone)
        if meter is not None:
            found[meter] += number
    for is_defect, number in counted(DEAD_LETTERS.name, F.col("reason").startswith(DEFECT)):
        found[LETTERS_METER] += number
        if is_defect:
            found[DEFECTS_METER] += number
    for (number,) in counted(DENIALS.name):
        found[DENIALS_METER] += number
    # Unary plus removes counts of zero.
    return +found
