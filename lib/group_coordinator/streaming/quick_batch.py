"""A batch of few events, taken by the driver as a whole, with one question to Spark.

What a small batch takes is nearly all Spark's own time around each question: so it is asked one less, and no sink of Spark's
is planned. The responses go to Kafka while the log's rows go to their table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple, Protocol

import pyarrow as pa
from msgspec import json
from pyspark.sql import DataFrame, Row, SparkSession

from group_coordinator.runtime.outputs import Responses
from group_coordinator.streaming.batch_outputs import (
    BatchOutputs,
    call_site_kept,
    sorted_by_kind,
)
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.operator.batch_context import TAKEN_AT_ONCE
from group_coordinator.streaming.operator.output_rows import (
    ARROW_OUTPUT,
    OUTPUT,
    RESPONSE,
    OutputLimits,
)

_MOST_EVENTS = 2_000
_MOST_BYTES_OF_A_TASK = 2 * 1024 * 1024
"""Of content. Few events may have much to say: large groups that rebalance, or timers of all groups that run out beside them."""


class WritesResponses(Protocol):
    """A ResponseWriter."""

    def writing(self, responses: Iterable[Responses]) -> AbstractContextManager[None]:
        """Write them while the block runs."""


class QuickWay(NamedTuple):
    """Which batches, by Spark's number, have few events, and who writes their responses."""

    has_few_events: Callable[[int], bool]
    responses: WritesResponses


class QuickBatch(NamedTuple):
    """A batch in the driver's memory."""

    outputs: BatchOutputs
    responses: Sequence[Responses]


def has_few_events(plans: Plans, batch_id: int) -> bool:
    """Whether the driver may ask for all that comes of a batch, by Spark's number."""
    return sum(len(taken) for _, taken in plans.ranges_of(batch_id)) <= _MOST_EVENTS


def quick_batch(batch: DataFrame, response_max_bytes: int) -> QuickBatch | None:
    """All of a batch; None: it is too much, or a response is too long.

    Who reads the batch after that runs its operator again, which comes to the same.
    """
    spark = batch.sparkSession
    limits = OutputLimits(_MOST_BYTES_OF_A_TASK, response_max_bytes)
    with call_site_kept(spark), _taken_at_once(spark, limits):
        # As Arrow it would take PySpark some questions more.
        rows = batch.collect()
    if any(row.content is None for row in rows):
        return None
    taken = [(row.kind, row["count"], bytes(row.content)) for row in rows]
    outputs = sorted_by_kind(spark, lambda: _without_responses(spark, rows), taken)
    responses = [
        Responses(row.key, row.partition, content)
        for row, (kind, _, content) in zip(rows, taken, strict=True)
        if kind == RESPONSE
    ]
    return QuickBatch(outputs, responses)


def _without_responses(spark: SparkSession, rows: Iterable[Row]) -> DataFrame:
    """What the driver has taken, in Spark again: in Arrow, as Python's objects would go through a worker first."""
    others = [row.asDict() for row in rows if row.kind != RESPONSE]
    return spark.createDataFrame(
        pa.Table.from_pylist(others, pa.schema(list(ARROW_OUTPUT))), OUTPUT
    )


@contextmanager
def _taken_at_once(spark: SparkSession, limits: OutputLimits) -> Iterator[None]:
    """While tasks begin, let them keep back what the driver would not take: the operator knows it without a plan of Spark's."""
    spark.sparkContext.setLocalProperty(TAKEN_AT_ONCE, json.encode(limits).decode())
    try:
        yield
    finally:
        spark.sparkContext.setLocalProperty(TAKEN_AT_ONCE, "")
