"""Jobs of one query do not wait behind those of another one."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.streaming.session import POOL, in_pool

pytestmark = pytest.mark.spark


def test_a_query_has_its_jobs_in_the_pool_that_it_was_started_in(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert spark.conf.get("spark.scheduler.mode") == "FAIR"
    pools: list[str | None] = []
    done = Event()

    def look(batch: DataFrame, _batch_id: int) -> None:
        pools.append(batch.sparkSession.sparkContext.getLocalProperty(POOL))
        pools.extend(batch.rdd.map(lambda _: pool_of_this_task()).collect())
        done.set()

    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    with in_pool(spark, "compaction"):
        query = (
            rows.writeStream.foreachBatch(look)
            .option("checkpointLocation", str(tmp_path))
            .trigger(processingTime="1 second")
            .start()
        )
    assert done.wait(60), query.exception()
    query.stop()

    assert set(pools) == {"compaction"}
    assert spark.sparkContext.getLocalProperty(POOL) is None


def pool_of_this_task() -> str | None:
    from pyspark import TaskContext  # noqa: PLC0415 - in the worker

    task = TaskContext.get()
    return None if task is None else task.getLocalProperty(POOL)
