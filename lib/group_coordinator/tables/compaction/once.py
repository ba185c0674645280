"""Writes that a redone batch does not repeat."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_APP_ID = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"


@contextmanager
def once(session: SparkSession, app_id: str, version: int) -> Iterator[None]:
    """Delta skips the one MERGE inside if the application has done this version, or a later one, before.

    Delta reads this from the session that runs the batch, which is the same for all batches: what is left behind
    would silence later writes.
    """
    session.conf.set(_APP_ID, app_id)
    session.conf.set(_VERSION, str(version))
    try:
        yield
    finally:
        session.conf.unset(_APP_ID)
        session.conf.unset(_VERSION)
