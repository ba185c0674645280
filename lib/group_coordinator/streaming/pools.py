"""Scheduler pools of Spark: with spark.scheduler.mode = FAIR, queries in different pools take turns, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from types import MappingProxyType
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from group_coordinator.tables.session_conf import session_conf

POOL = "spark.scheduler.pool"
_STARTING = Lock()
_NONE: Mapping[str, str] = MappingProxyType({})


@contextmanager
def in_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Run the queries that this thread starts in the block in a pool of this name, for as long as they run.

    Jobs of one pool wait for each other, so a first compaction would delay heartbeats.
    """
    # Its type hints lack None, which removes a property.
    context: Any = spark.sparkContext
    before = context.getLocalProperty(POOL)
    context.setLocalProperty(POOL, name)
    try:
        yield
    finally:
        context.setLocalProperty(POOL, before)


def started_in_pool(
    writer: DataStreamWriter, spark: SparkSession, name: str, settings: Mapping[str, str] = _NONE
) -> StreamingQuery:
    """Start a query in a pool, with Spark settings for this query alone.

    A query copies the session's settings at its start, so queries start in turn.
    """
    with _STARTING, in_pool(spark, name), session_conf(spark, settings):
        return writer.start()
