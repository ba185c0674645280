"""The meters' totals: exact whatever ends a run, though no batch waits for a file of theirs.

What a batch adds follows from its rows in the tables. So the totals are kept now and then, with the batch that they reach
to, and what lies between them and the first batch of a run is counted in the tables.
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
from group_coordinator.runtime.quarantine import DEFECT
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.small_batch import (
    DEFECTS_METER,
    DENIALS_METER,
    LETTERS_METER,
    BatchMeters,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.dead_letters import DEAD_LETTERS
from group_coordinator.tables.denials import DENIALS

Content = TypeVar("Content")

CountTables = Callable[[int, int], Mapping[str, int]]
"""What the batches between two others, both left out, have added to the meters."""

_FOLDER = "meters"
_COUNTED_ANEW = (
    "put a copy of it there, or delete it, and the totals are counted anew in the tables"
)

_decode_line = json.Decoder(RebalancingLine).decode


class Files(Protocol):
    """The part of CheckpointFolder that totals need."""

    def read_newest_as(self, name: str, kind: type[Content], remedy: str) -> Content | None:
        """What was written last; None: there is none."""
        ...

    def write_next(self, name: str, text: str) -> None:
        """Write the next text."""
        ...


class Totals(Struct):
    """As they are kept: up to a batch, by its number in the tables. `rebalancing` is a state by group."""

    batch_id: int = -1
    counts: dict[str, int] = field(default_factory=dict)
    rebalancing: dict[str, str] = field(default_factory=dict)


class MeterTotals:
    """Adds what batches say, in the thread that writes them; another thread makes up for what is missing, and keeps.

    Args:
        files: the coordinator's checkpoint.
        count_tables: asked once at most, and only if the run before was killed or had no meters.

    Raises:
        DamagedFileError: what is kept of them does not say so.
    """

    def __init__(self, files: Files, count_tables: CountTables) -> None:
        self._files = files
        self._count_tables = count_tables
        self._lock = Lock()
        self._totals = files.read_newest_as(_FOLDER, Totals, _COUNTED_ANEW) or Totals()
        self._kept = self._totals.batch_id
        self._first: int | None = None
        """Of this run; None: it has none yet."""
        self._is_whole = False

    def add(self, batch_id: int, meters: BatchMeters) -> bool:
        """Add a batch, by its number in the tables; False: it is there already."""
        with self._lock:
            totals = self._totals
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
        self._is_whole = self._kept == batch_id - 1
        if not self._is_whole:
            # A group that rebalances will say so again; that one has ended, nobody would.
            self._totals.rebalancing.clear()

    def make_up(self) -> None:
        """Count what neither the last run has kept nor this one has heard."""
        if self._first is None or self._is_whole:
            return
        missing = Counter(self._count_tables(self._kept, self._first))
        with self._lock:
            self._totals.counts = dict(Counter(self._totals.counts) + missing)
            self._is_whole = True

    def keep(self) -> None:
        """Write them down, if they are whole and more than what is written."""
        with self._lock:
            if not self._is_whole or self._totals.batch_id == self._kept:
                return
            batch_id, text = self._totals.batch_id, json.encode(self._totals).decode()
        self._files.write_next(_FOLDER, text)
        self._kept = batch_id

    def counts(self) -> Mapping[str, int] | None:
        """By meter; None: not all is counted yet."""
        with self._lock:
            return dict(self._totals.counts) if self._is_whole else None

    def rebalancing(self) -> Mapping[str, str]:
        """The states of the classic groups that rebalance."""
        with self._lock:
            return dict(self._totals.rebalancing)


def counted_in_tables(
    spark: SparkSession, job: JobSettings, after: int, before: int
) -> Counter[str]:
    """What the batches between two others have added to the meters, by the rows that they have left."""
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
    return +found
