"""Where a session runs; workers import this, so it needs nothing that they may lack."""

from __future__ import annotations

from pyspark.sql import SparkSession


def is_on_this_machine(spark: SparkSession) -> bool:
    """Whether driver and tasks are in one process, not on the machines of a cluster."""
    return (spark.sparkContext.master or "local").startswith("local")
