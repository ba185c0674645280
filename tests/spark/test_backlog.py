"""Which batches hold their timers, and how their tasks hear of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.operator.worker_function import in_this_task
from group_coordinator.streaming.source import TIMERS_SUSPENDED, Backlog
from tests.support.group_updates import update_context

pytestmark = pytest.mark.spark

LIMIT = 100


@pytest.fixture
def folder(spark: SparkSession, configured: Settings) -> CheckpointFolder:
    """Retention has taken the first 1,000 events of each partition; then the job began."""
    folder = coordinator_folder(spark, configured.job)
    folder.write("sources/0/0", '\0v1\n{"group-events":{"0":1000,"1":1000}}')
    plan(folder, 0, 1010, 1010)
    return folder


@pytest.fixture(autouse=True)
def no_hold_for_others(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sparkContext.setLocalProperty(TIMERS_SUSPENDED, None)


def plan(folder: CheckpointFolder, batch_id: int, *ends: int) -> None:
    metadata = {"batchWatermarkMs": 0, "batchTimestampMs": 5_000 + batch_id, "conf": {}}
    events = {"group-events": {str(partition): end for partition, end in enumerate(ends)}}
    lines = ("v1", json.encode(metadata).decode(), json.encode(events).decode())
    folder.write(f"offsets/{batch_id}", "\n".join(lines))


def timers_suspended(spark: SparkSession) -> list[bool]:
    tasks = spark.sparkContext.parallelize(range(2), 2)
    return tasks.map(lambda _: in_this_task(update_context()).timers_suspended).collect()


@pytest.mark.parametrize(
    ("ends", "is_held"),
    [
        ((1010, 1010), False),
        ((1010 + 49, 1010 + 48), False),
        ((1010 + 49, 1010 + 49), True),  # a limit of 100 in two shares, each rounded down
        ((1010 + 100, 1010), True),
        ((1010 + 98, 1010), False),  # one share alone is all of the limit, or nearly so
        ((1010, 1010, 99), True),  # a new partition is read from its beginning
        ((1010, 1010, 98), False),
    ],
)
def test_a_batch_as_large_as_the_limit_leaves_a_backlog(
    spark: SparkSession, folder: CheckpointFolder, ends: tuple[int, ...], is_held: object
) -> None:
    plan(folder, 1, *ends)

    Backlog(spark, Plans(folder), LIMIT).begin(1)

    assert timers_suspended(spark) == [is_held] * 2


def test_the_first_batch_counts_from_where_the_topic_began(
    spark: SparkSession, folder: CheckpointFolder
) -> None:
    Backlog(spark, Plans(folder), LIMIT).begin(0)
    assert timers_suspended(spark) == [False] * 2

    plan(folder, 0, 1100, 1000)
    Backlog(spark, Plans(folder), LIMIT).begin(0)
    assert timers_suspended(spark) == [True] * 2


def test_timers_that_were_put_off_look_again_five_seconds_after_the_last_batch_of_a_backlog(
    spark: SparkSession, folder: CheckpointFolder
) -> None:
    backlog = Backlog(spark, Plans(folder), LIMIT)
    for batch_id, end in enumerate((1100, 1200, 1210), start=1):
        plan(folder, batch_id, end, 1010)
        backlog.begin(batch_id)

    assert backlog.retries_end_ms == 5_002 + 5_000
    assert timers_suspended(spark) == [False] * 2


def test_without_a_limit_nothing_is_left(spark: SparkSession, folder: CheckpointFolder) -> None:
    plan(folder, 1, 10**9, 1010)

    Backlog(spark, Plans(folder), limit=0).begin(1)

    assert timers_suspended(spark) == [False] * 2
