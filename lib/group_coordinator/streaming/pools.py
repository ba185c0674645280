"""Which queries take turns with each other: with spark.scheduler.mode = FAIR those in different pools do, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

POOL = "spark.scheduler.pool"


@contextmanager
def in_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Queries that this thread starts in the block have their jobs in a pool of this name, for as long as they run.

    Jobs of one pool wait for each other, so that a first compaction would stand before heartbeats.
    """
    context: Any = spark.sparkContext  # its hints know no None, which takes a property away
    before = context.getLocalProperty(POOL)
    context.setLocalProperty(POOL, name)
    try:
        yield
    finally:
        context.setLocalProperty(POOL, before)
