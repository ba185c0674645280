"""Writes that a redone batch does not repeat."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pyspark.sql import SparkSession

from group_coordinator.tables.session_conf import session_conf

_APP_ID = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"


def once(session: SparkSession, app_id: str, version: int) -> AbstractContextManager[None]:
    """Delta skips the one MERGE inside if the application has done this version, or a later one, before.

    Delta reads this from the session that runs the batch, which is the same for all batches: what is left behind
    would silence later writes.
    """
    return session_conf(session, {_APP_ID: app_id, _VERSION: str(version)})
