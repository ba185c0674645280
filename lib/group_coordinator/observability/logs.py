"""What the commands say while they run: short lines on standard error."""

from __future__ import annotations

import logging
from importlib import resources
from typing import Any

import javaproperties
from pyspark.sql import SparkSession

LOG4J2 = resources.files("group_coordinator.observability") / "log4j2.properties"
"""What the JVM says."""

_TOLD_BY_ERRORS = ("kafka.net.", "py4j.")
"""They log every attempt to connect, and every exception on its way to Java; the final error is raised anyway."""


def set_up_logs() -> None:
    """Our own information, and warnings of libraries."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S"
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(lambda record: not record.name.startswith(_TOLD_BY_ERRORS))
    logging.getLogger("group_coordinator").setLevel(logging.INFO)


def quieten_jvm(spark: SparkSession) -> None:
    """Let a JVM that was started with a configuration of its own say no more than LOG4J2 lets it say."""
    settings = javaproperties.loads(LOG4J2.read_text(encoding="utf-8"))
    spark.sparkContext.setLogLevel(settings["rootLogger.level"].upper())
    session: Any = spark
    log4j = session._jvm.org.apache.logging.log4j  # noqa: SLF001 - PySpark has no public way
    for key, name in settings.items():
        if key.startswith("logger.") and key.endswith(".name"):
            level = settings[key.removesuffix(".name") + ".level"]
            log4j.core.config.Configurator.setLevel(name, log4j.Level.toLevel(level))
