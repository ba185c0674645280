"""What a batch has is the same whether the driver takes it at once or Spark counts first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark import StorageLevel
from pyspark.sql import SparkSession

from group_coordinator.streaming import small_batch
from group_coordinator.streaming.operator.output_rows import OUTPUT, Row
from group_coordinator.streaming.operator.worker_function import limits_in_this_task
from group_coordinator.streaming.small_batch import (
    LETTERS,
    BatchCounts,
    BatchOutputs,
    collected_small_batch,
    outputs_of,
)
from group_coordinator.tables.append import Size
from group_coordinator.tables.log_rows import LogOrigin

pytestmark = pytest.mark.spark

QUICK, LITTLE, MUCH = 0, 8 * 1024 * 1024, -1
"""Taken as a whole; or of what is cached little or much, by the most bytes that are little."""
RESPONSE_MAX_BYTES = 10
ROWS: list[Row] = [
    ("R", "a", None, b"1\n22", 2),
    ("R", "a", 3, b"333", 1),
    ("L", None, None, b"rows", 70),
    ("L", None, None, b"more rows", 7),
    ("D", None, None, b"letter", 1),
    ("D!", None, None, b"defect", 1),
    ("T", None, None, b"need", 1),
    ("M", None, None, b"\xc3\xbc", 1),
    ("N", None, None, b'{"offset-commit":70}', 1),
    ("N", None, None, b'{"offset-commit":6,"offset-expiration":1}', 1),
    ("S", None, None, b"rebalances", 1),
]
METERS = {"offset-commit": 76, "offset-expiration": 1, "dead-letter": 2, "defect": 1}


@contextmanager
def found(spark: SparkSession, rows: list[Row], most_bytes: int) -> Iterator[BatchOutputs]:
    if most_bytes == QUICK:
        taken = collected_small_batch(
            spark.createDataFrame(rows, OUTPUT).repartition(2), RESPONSE_MAX_BYTES
        )
        assert taken is not None
        yield taken.outputs
        return
    batch = spark.createDataFrame(rows, OUTPUT).repartition(2).persist(StorageLevel.MEMORY_AND_DISK)
    assert batch.count() == len(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_batch, "_LITTLE_BYTES", most_bytes)
        outputs = outputs_of(batch)
    assert (outputs.contents is None) == (most_bytes == MUCH)
    yield outputs
    batch.unpersist()


@pytest.mark.parametrize("most_bytes", [QUICK, LITTLE, MUCH])
def test_a_batch_with_everything(spark: SparkSession, most_bytes: int) -> None:
    with found(spark, ROWS, most_bytes) as outputs:
        assert outputs.counts == BatchCounts(3, 77, 2, 1)
        assert outputs.size_of(LETTERS) == Size(2, 12)
        assert (outputs.topic_subscriptions(), outputs.awaited_markers()) == (["need"], ["ü"])
        assert outputs.meters() == (METERS, ["rebalances"])
        log = outputs.log(LogOrigin("test", "group-events"))
        assert log.packed_bytes == 13
        contents = [bytes(row.content) for row in log.packed().collect()]
        assert sorted(contents) == [b"more rows", b"rows"]
        assert sorted(log.here or contents) == sorted(contents)


@pytest.mark.parametrize("most_bytes", [QUICK, LITTLE, MUCH])
def test_a_batch_with_nothing(spark: SparkSession, most_bytes: int) -> None:
    with found(spark, [], most_bytes) as outputs:
        assert outputs.counts == BatchCounts(0, 0, 0, 0)
        assert outputs.size_of(LETTERS) == Size(0, 0)
        assert list(outputs.topic_subscriptions()) == list(outputs.awaited_markers()) == []
        assert (outputs.meters().counts, [*outputs.meters().rebalancing]) == ({}, [])


def test_the_driver_takes_responses_with_their_partitions(spark: SparkSession) -> None:
    taken = collected_small_batch(spark.createDataFrame(ROWS, OUTPUT), RESPONSE_MAX_BYTES)

    assert taken is not None
    assert taken.responses == [("a", None, b"1\n22"), ("a", 3, b"333")]


@pytest.mark.parametrize("kind", ["R", "L"])
def test_the_driver_takes_no_batch_of_which_something_was_kept_back(
    spark: SparkSession, kind: str
) -> None:
    rows = [*ROWS, (kind, "b", None, None, 1)]

    assert collected_small_batch(spark.createDataFrame(rows, OUTPUT), RESPONSE_MAX_BYTES) is None


def test_tasks_know_how_much_the_driver_takes_for_as_long_as_it_does(spark: SparkSession) -> None:
    tasks = spark.sparkContext.parallelize(range(2), 2)
    limits = tasks.map(lambda _: ("T", None, None, repr(limits_in_this_task()).encode(), 1))

    taken = collected_small_batch(limits.toDF(OUTPUT), RESPONSE_MAX_BYTES)

    assert taken is not None
    known = "OutputLimits(task_bytes=2097152, response_bytes=10)"
    assert taken.outputs.topic_subscriptions() == [known, known]
    assert {row.content.decode() for row in limits.toDF(OUTPUT).collect()} == {"None"}


def test_what_is_not_cached_as_a_whole_is_counted(spark: SparkSession) -> None:
    """Spark cannot say how much it is."""
    rows = spark.sparkContext.parallelize(ROWS, 2)

    outputs = outputs_of(rows.toDF(OUTPUT))

    assert outputs.contents is None
    assert outputs.counts == BatchCounts(3, 77, 2, 1)


def test_spark_keeps_where_the_query_was_called_from(spark: SparkSession) -> None:
    """A question of PySpark's would make it look again for each plan of the batches that follow."""
    context = spark.sparkContext
    context.setLocalProperty("callSite.short", "the coordinator's query")
    try:
        with (
            found(spark, ROWS, QUICK),
            found(spark, ROWS, LITTLE),
            found(spark, ROWS, MUCH),
        ):
            assert context.getLocalProperty("callSite.short") == "the coordinator's query"
    finally:
        context.setLocalProperty("callSite.short", None)  # type: ignore[arg-type]
