"""Size of a batch, and the collection of a small batch by the driver with a single Spark query.

A Spark query costs some tens of milliseconds, however small its result, and most batches are small. So there is one query less, and
no Spark sink is planned. The responses go to Kafka while the log's rows go to their table.

Idle back-off: the time between batches grows while no events arrive. The pause lies between the writes of a batch and its end, and
grows with the time since the last event other than our own Ticks, or since the last outputs. So a timer, which was set by an event
or a timer with outputs, fires late by at most a tenth of its length. An event ends the pause.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from msgspec import json
from pyspark.sql import DataFrame, Row, SparkSession

from group_coordinator.runtime.outputs import Responses
from group_coordinator.streaming.checkpoint.plans import Offsets, Plans
from group_coordinator.streaming.operator.output_rows import (
    ARROW_OUTPUT,
    AWAITED_MARKERS,
    DEAD_LETTER,
    DEFECT,
    DENIAL,
    LOG,
    METERS,
    OUTPUT,
    REBALANCING,
    RESPONSE,
    STATE_READ,
    TOPIC_SUBSCRIPTION,
    OutputLimits,
)
from group_coordinator.streaming.operator.worker_function import TAKEN_AT_ONCE
from group_coordinator.tables.append import Size
from group_coordinator.tables.log_rows import LogOrigin, PackedRows

LETTERS = (DEAD_LETTER, DEFECT)

LETTERS_METER, DEFECTS_METER, DENIALS_METER = "dead-letter", "defect", "denial"
"""Our meters, in addition to Kafka's; a defect is a dead letter too."""

# Size of a batch in Spark's cache up to which the driver collects it without counting first.
_LITTLE_BYTES = 8 * 1024 * 1024
_CALL_SITE = "callSite.short"


class BatchCounts(NamedTuple):
    """Numbers of outputs of a batch by kind; defects are dead letters too."""

    responses: int = 0
    records: int = 0
    dead_letters: int = 0
    defects: int = 0
    denials: int = 0


class BatchMeters(NamedTuple):
    """Increments of Kafka's and our own meters, by name, and the groups' changes of rebalancing, in JSON."""

    counts: Mapping[str, int] = MappingProxyType({})
    rebalancing: Sequence[str] = ()


class KindVolume(NamedTuple):
    """Outputs of a kind in a batch."""

    outputs: int
    content_bytes: int


_NOTHING = KindVolume(0, 0)


@dataclass(frozen=True, slots=True)
class BatchOutputs:
    """The outputs of a batch; `contents` has all but the responses, by kind; None: too many. `frame` runs no operator again."""

    spark: SparkSession
    frame: Callable[[], DataFrame]
    volumes: Mapping[str, KindVolume]
    contents: Mapping[str, Sequence[bytes]] | None

    @property
    def counts(self) -> BatchCounts:
        responses, records, letters, defects, denials = (
            self._volume(kind).outputs for kind in (RESPONSE, LOG, DEAD_LETTER, DEFECT, DENIAL)
        )
        return BatchCounts(responses, records, letters + defects, defects, denials)

    def size_of(self, kinds: Collection[str]) -> Size:
        volumes = [self._volume(kind) for kind in kinds]
        return Size(
            sum(volume.outputs for volume in volumes),
            sum(volume.content_bytes for volume in volumes),
        )

    def topic_subscriptions(self) -> Sequence[str]:
        """Return the topic subscriptions of groups, each in JSON."""
        return self._texts(TOPIC_SUBSCRIPTION)

    def awaited_markers(self) -> Sequence[str]:
        """Return the transaction markers that groups wait for, each in JSON."""
        return self._texts(AWAITED_MARKERS)

    def have_states_read(self) -> bool:
        """Return True if a gateway gets the state of a group with this batch."""
        return self._volume(STATE_READ).outputs > 0

    def meters(self) -> BatchMeters:
        """Return the batch's increments of the meters, and the groups that began or ended a rebalance."""
        found: Counter[str] = Counter()
        for text in self._texts(METERS):
            found.update(json.decode(text, type=dict[str, int]))
        counts = self.counts
        ours = {
            LETTERS_METER: counts.dead_letters,
            DEFECTS_METER: counts.defects,
            DENIALS_METER: counts.denials,
        }
        found.update({name: number for name, number in ours.items() if number})
        return BatchMeters(found, self._texts(REBALANCING))

    def log(self, origin: LogOrigin) -> PackedRows:
        here = None if self.contents is None else self.contents[LOG]
        size = self._volume(LOG).content_bytes
        return PackedRows(self.spark, self._packed_log, size, origin, here)

    def _packed_log(self) -> DataFrame:
        return self.frame().where(f"kind = '{LOG}'").select("content")

    def _volume(self, kind: str) -> KindVolume:
        return self.volumes.get(kind, _NOTHING)

    def _texts(self, kind: str) -> Sequence[str]:
        if not self._volume(kind).outputs:
            return ()
        if self.contents is not None:
            return [content.decode() for content in self.contents[kind]]
        said = self.frame().where(f"kind = '{kind}'").selectExpr("string(content)")
        return [row[0] for row in said.toLocalIterator()]


def outputs_of(batch: DataFrame) -> BatchOutputs:
    """Return the outputs of a batch, which was persisted and read as a whole."""
    with call_site_kept(batch.sparkSession):
        # A large batch is counted first, as its content may not fit into the driver's memory.
        return _all_of(batch) if _cached_bytes(batch) <= _LITTLE_BYTES else _counted(batch)


def sorted_by_kind(
    spark: SparkSession, frame: Callable[[], DataFrame], rows: Iterable[tuple[str, int, bytes]]
) -> BatchOutputs:
    """Return the outputs of a batch from its rows, each with kind, count and content."""
    volumes: dict[str, KindVolume] = {}
    contents: dict[str, list[bytes]] = {}
    for kind, count, content in rows:
        before = volumes.get(kind, _NOTHING)
        volumes[kind] = KindVolume(before.outputs + count, before.content_bytes + len(content))
        contents.setdefault(kind, []).append(content)
    return BatchOutputs(spark, frame, volumes, contents)


def _all_of(batch: DataFrame) -> BatchOutputs:
    # The responses are already sent, so their content is not needed in the driver.
    without_responses = f"if(kind = '{RESPONSE}', null, content) AS content"
    rows = batch.selectExpr("kind", "count", without_responses).toArrow().to_pylist()
    outputs = ((row["kind"], row["count"], row["content"] or b"") for row in rows)
    return sorted_by_kind(batch.sparkSession, lambda: batch, outputs)


def _counted(batch: DataFrame) -> BatchOutputs:
    # Spark adds the sizes up, as the outputs of a batch may exceed the driver's memory.
    rows = batch.selectExpr("kind", "count", "octet_length(content) AS size")
    found = rows.groupBy("kind").sum("count", "size").collect()
    volumes = {kind: KindVolume(*volume) for kind, *volume in found}
    return BatchOutputs(batch.sparkSession, lambda: batch, volumes, None)


def _cached_bytes(batch: DataFrame) -> int:
    # Very many if the batch is cached only in part, so that it is then counted first.
    frame: Any = batch
    statistics = frame._jdf.queryExecution().optimizedPlan().stats()  # noqa: SLF001 - PySpark has no public way
    return int(statistics.sizeInBytes())


@contextmanager
def call_site_kept(spark: SparkSession) -> Iterator[None]:
    """Keep the call site during PySpark's queries: they reset it, and Spark would compute it again for each plan and RDD."""
    context: Any = spark.sparkContext
    call_site = context.getLocalProperty(_CALL_SITE)
    try:
        yield
    finally:
        context.setLocalProperty(_CALL_SITE, call_site)


_MOST_EVENTS = 2_000
# Few events may have large outputs: large groups that rebalance, or timers of all groups that fire with them.
_MOST_BYTES_OF_A_TASK = 2 * 1024 * 1024


class WritesResponses(Protocol):
    def writing(self, responses: Iterable[Responses]) -> AbstractContextManager[None]:
        """Write responses while the block runs."""


class SmallBatches(NamedTuple):
    """Test for small batches, by Spark's number, and the writer of their responses."""

    has_few_events: Callable[[int], bool]
    responses: WritesResponses


class SmallBatch(NamedTuple):
    outputs: BatchOutputs
    responses: Sequence[Responses]


def has_few_events(plans: Plans, batch_id: int) -> bool:
    """Return True if the driver may collect the outputs of a batch, by Spark's number."""
    return sum(len(taken) for _, taken in plans.ranges_of(batch_id)) <= _MOST_EVENTS


def collected_small_batch(batch: DataFrame, response_max_bytes: int) -> SmallBatch | None:
    """Collect a batch; None: the outputs of a task, or the responses of a group for a partition, are too large.

    A later reader of the batch runs its operator again, with the same result.
    """
    spark = batch.sparkSession
    limits = OutputLimits(_MOST_BYTES_OF_A_TASK, response_max_bytes)
    with call_site_kept(spark), _taken_at_once(spark, limits):
        # toArrow would take PySpark some more calls.
        rows = batch.collect()
    # A task has left out content beyond the limits.
    if any(row.content is None for row in rows):
        return None
    taken = [(row.kind, row["count"], bytes(row.content)) for row in rows]
    outputs = sorted_by_kind(spark, lambda: _without_responses(spark, rows), taken)
    responses = [
        Responses(row.key, row.partition, content)
        for row, (kind, _, content) in zip(rows, taken, strict=True)
        if kind == RESPONSE
    ]
    return SmallBatch(outputs, responses)


def _without_responses(spark: SparkSession, rows: Iterable[Row]) -> DataFrame:
    # In Arrow, as Python's objects would go through a worker first.
    others = [row.asDict() for row in rows if row.kind != RESPONSE]
    return spark.createDataFrame(
        pa.Table.from_pylist(others, pa.schema(list(ARROW_OUTPUT))), OUTPUT
    )


@contextmanager
def _taken_at_once(spark: SparkSession, limits: OutputLimits) -> Iterator[None]:
    # A task omits content beyond the limits. The operator reads them from a property, without a plan of Spark's.
    spark.sparkContext.setLocalProperty(TAKEN_AT_ONCE, json.encode(limits).decode())
    try:
        yield
    finally:
        spark.sparkContext.setLocalProperty(TAKEN_AT_ONCE, "")


_SHARE = 10
"""Quotient of the time without outputs and the longest pause."""
_NOTHING_DONE = BatchCounts()
# Ticks of the last minutes, as the Tick is written once a minute.
_TICKS_KEPT = 10
_log = logging.getLogger(__name__)

AwaitEvents = Callable[[Offsets, float, Callable[[], bool]], float]
"""Waits for events behind these offsets, for these seconds, or until the last function returns True; returns idle seconds."""


class IdleBackOff:
    """Pauses after batches without events and outputs, at most for idle.interval.ms.

    `note_empty` notes that a batch has no outputs, as it does not end before the pause does. `await_events` ends a pause as soon as
    there are events. `shortest_ms` is trigger.interval.ms, for which Spark itself waits.
    """

    def __init__(
        self,
        plans: Plans,
        note_empty: Callable[[int], None],
        await_events: AwaitEvents,
        shortest_ms: int,
        longest_ms: int,
    ) -> None:
        self._plans = plans
        self._note_empty = note_empty
        self._await_events = await_events
        self._shortest_s = shortest_ms / 1000
        self._longest_s = longest_ms / 1000
        self._busy_s = time.monotonic()
        self._rested_ms: tuple[int, int] = (-1, 0)
        self._ticks: tuple[Mapping[int, int], ...] = ()

    def after(self, batch_id: int, counts: BatchCounts, must_go_on: Callable[[], bool]) -> None:
        """Pause after this batch, by Spark's number, if it is due; at most until `must_go_on`."""
        now_s = time.monotonic()
        if counts != _NOTHING_DONE or self._had_events(batch_id):
            self._busy_s = now_s
        # A tenth of the idle time: a timer is late by at most a tenth of its own length.
        rest_s = min((now_s - self._busy_s) / _SHARE, self._longest_s)
        plan = self._plans.of(batch_id)
        if rest_s <= self._shortest_s or plan is None:
            return
        self._note_empty(batch_id)
        rested_s = self._await_events(plan.ends, rest_s, must_go_on)
        self._rested_ms = batch_id, round(rested_s * 1000)
        _log.debug("spark_batch=%d idle_s=%.3f of=%.3f", batch_id, rested_s, rest_s)

    def note_ticks(self, ends: Mapping[int, int]) -> None:
        """Remember written Ticks, by the offset behind each, as they do not count as events."""
        self._ticks = (*self._ticks[1 - _TICKS_KEPT :], ends)

    def _had_events(self, batch_id: int) -> bool:
        return any(
            # A batch of Ticks alone had no client events.
            len(offsets) > self._ticks_in(partition, offsets)
            for partition, offsets in self._plans.ranges_of(batch_id)
        )

    def _ticks_in(self, partition: int, offsets: range) -> int:
        return sum(ticks.get(partition, 0) - 1 in offsets for ticks in self._ticks)

    def ms_after(self, batch_id: int) -> int:
        """Return the milliseconds for which this batch, by Spark's number, was idle before it ended."""
        rested_batch_id, rested_ms = self._rested_ms
        return rested_ms if rested_batch_id == batch_id else 0


def no_back_off(batch_id: int, counts: BatchCounts, must_go_on: Callable[[], bool]) -> None:
    """Return at once: for a run that ends by itself."""
