"""A batch of few events, taken by the driver as a whole, with one question to Spark.

What a small batch takes is nearly all Spark's own time around each question: so it is asked one less, and no sink of Spark's
is planned. The responses go to Kafka while the log's rows go to their table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from pyspark.sql import DataFrame

from group_coordinator.runtime.outputs import Responses
from group_coordinator.streaming.batch_outputs import (
    BatchOutputs,
    call_site_kept,
    sorted_by_kind,
)
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.operator.output_rows import OUTPUT, RESPONSE

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
    content = _content_within(response_max_bytes)
    columns = [content if name == "content" else name for name in OUTPUT.names]
    with call_site_kept(spark):
        rows = batch.selectExpr(*columns).toArrow()
    if rows["content"].null_count:
        return None
    taken = rows.to_pylist()
    outputs = sorted_by_kind(spark, lambda: spark.createDataFrame(rows, OUTPUT), taken)
    responses = [
        Responses(row["key"], row["partition"], row["content"])
        for row in taken
        if row["kind"] == RESPONSE
    ]
    return QuickBatch(outputs, responses)


def _content_within(response_max_bytes: int) -> str:
    return (
        f"if(bytes_before + octet_length(content) <= {_MOST_BYTES_OF_A_TASK} "
        f"AND (kind <> '{RESPONSE}' OR octet_length(content) <= {response_max_bytes})"
        ", content, null) AS content"
    )
