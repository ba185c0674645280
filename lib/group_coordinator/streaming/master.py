"""The place of a session. Workers import this, so it needs no package that they may lack."""

from __future__ import annotations

from pyspark.sql import SparkSession


def is_on_this_machine(spark: SparkSession) -> bool:
    """Return True if driver and tasks are in one process, not on the machines of a cluster."""
    return (spark.sparkContext.master or "local").startswith("local")
