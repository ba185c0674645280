"""Which kinds of compute can run the job: those that give it a JVM of its own."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.streaming.cluster_options import DATABRICKS

_ACCESS_MODE = "spark.databricks.clusterUsageTags.dataSecurityMode"
_STANDARD = ("USER_ISOLATION", "DATA_SECURITY_MODE_STANDARD")
_SERVERLESS = "client."
"""How Databricks' name of the runtime begins on serverless compute."""


def check_before_session() -> None:
    """Refuse Spark Connect before anything reaches for a JVM that is not there.

    Raises:
        JobRefusedError: the session would be one of Spark Connect.
    """
    runtime = os.environ.get(DATABRICKS, "")
    if runtime.startswith(_SERVERLESS):
        raise _refusal(f"this is Databricks' serverless compute ({DATABRICKS} = {runtime})")
    if is_remote():
        raise _refusal(
            "this Spark is a Spark Connect server, as on Databricks' standard and serverless compute"
        )


def check_session(spark: SparkSession) -> None:
    """Refuse a session that came from elsewhere and has no JVM for us.

    Raises:
        JobRefusedError: it is one of Spark Connect, or of Databricks' standard compute.
    """
    if type(spark).__module__.startswith("pyspark.sql.connect."):
        raise _refusal("this session is one of Spark Connect")
    mode = str(spark.conf.get(_ACCESS_MODE, ""))
    if mode in _STANDARD:
        raise _refusal(f"this is Databricks' standard compute ({_ACCESS_MODE} = {mode})")


def _refusal(why: str) -> JobRefusedError:
    return JobRefusedError(
        f"{why}: the job needs a Spark of its own, as spark-submit and Databricks' dedicated compute "
        "(data_security_mode: SINGLE_USER) give it"
    )
