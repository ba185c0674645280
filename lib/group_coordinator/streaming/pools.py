"""Which queries take turns with each other: with spark.scheduler.mode = FAIR those in different pools do, and no others."""

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


def started_in_pool(
    writer: DataStreamWriter, spark: SparkSession, name: str, settings: Mapping[str, str] = _NONE
) -> StreamingQuery:
    """Start a query in a pool, with settings of Spark's for it alone.

    It keeps what the session has when it starts, so that queries start one after the other.
    """
    with _STARTING, in_pool(spark, name), session_conf(spark, settings):
        return writer.start()
