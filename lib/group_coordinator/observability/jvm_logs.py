"""Log levels of the JVM."""

from __future__ import annotations

from importlib import resources
from typing import Any

import javaproperties
from pyspark.sql import SparkSession

LOG4J2 = resources.files("group_coordinator.observability") / "log4j2.properties"
"""The levels of a JVM that the job starts."""


def quieten_jvm(spark: SparkSession) -> None:
    """Apply the levels of LOG4J2 to a JVM that was started with its own configuration."""
    settings = javaproperties.loads(LOG4J2.read_text(encoding="utf-8"))
    spark.sparkContext.setLogLevel(settings["rootLogger.level"].upper())
    session: Any = spark
    log4j = session._jvm.org.apache.logging.log4j  # noqa: SLF001 - PySpark has no public way
    for key, name in settings.items():
        if key.startswith("logger.") and key.endswith(".name"):
            level = settings[key.removesuffix(".name") + ".level"]
            log4j.core.config.Configurator.setLevel(name, log4j.Level.toLevel(level))
