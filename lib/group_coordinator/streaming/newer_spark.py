"""A Spark that is newer than those that the job was seen to run on: it is tried where it brings what goes with it."""

from __future__ import annotations

import logging
import os
from typing import Any

from py4j.java_gateway import JavaClass

from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.streaming.spark_lines import UnknownSparkError, newer_than

_NEEDED = {
    "Kafka connector (spark-sql-kafka-0-10)": "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    "Delta (delta-spark)": "io.delta.sql.DeltaSparkSessionExtension",
}
"""What the job needs beside Spark -> a class of it. Databricks has both, and some classes under names of its own."""

_log = logging.getLogger(__name__)


def warn_of_newer(version: str, jvm: Any) -> None:
    """Log that nobody has seen the job on this version of PySpark, if that is so; `jvm` is py4j's view of the driver's.

    Raises:
        UnknownSparkError: it is newer, and has no Kafka or no Delta; or it is older than all that the job was seen on.
    """
    newest = newer_than(version)
    if newest is None:
        return
    newer = f"PySpark {version} is newer than {newest}, the newest that the job was seen to run on"
    missing = [] if DATABRICKS in os.environ else _missing(jvm)
    if missing:
        raise UnknownSparkError(
            f"{newer}, and it has no {' and no '.join(missing)}: submit the job with the jars of this version "
            f"(jobs/README.md), or take PySpark {newest}"
        )
    _log.warning(
        "%s: it is tried; whether its state, checkpoints and tables are right is not known", newer
    )


def _missing(jvm: Any) -> list[str]:
    return [name for name, of in _NEEDED.items() if not isinstance(getattr(jvm, of), JavaClass)]
