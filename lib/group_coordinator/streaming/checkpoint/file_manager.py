"""Access to Spark's classes that read and write checkpoints. Their package depends on Spark's version."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession

from group_coordinator.tables.roots import is_url_elsewhere

_STREAMING = "org.apache.spark.sql.execution.streaming"
PACKAGES = (f"{_STREAMING}.checkpointing", _STREAMING)
"""From Spark 4.1, and before."""

SETTING = "spark.sql.streaming.checkpointFileManagerClass"


def file_managers(spark: SparkSession) -> Any:
    """Return the Java class CheckpointFileManager."""
    return _class(spark, "CheckpointFileManager")


def rename_plainly(spark: SparkSession, location: str) -> None:
    """Rename checkpoint files on this machine's disk as Hadoop's FileSystem does.

    The default renames with links, and without Hadoop's native library each check of a link starts a process. On HDFS a
    plain rename replaces no file, and Spark ignores that.
    """
    if is_url_elsewhere(location):
        return
    use_file_manager(spark, f"{streaming_package(spark)}.FileSystemBasedCheckpointFileManager")


def use_file_manager(spark: SparkSession, name: str) -> None:
    """Set the class that reads and writes the checkpoints of this session."""
    spark.conf.set(SETTING, name)


def streaming_package(spark: SparkSession) -> str:
    """Return the package of Spark's streaming classes."""
    return str(_class(spark, "CheckpointFileManager")._fqn).rpartition(".")[0]  # noqa: SLF001 - py4j has no public way


def _class(spark: SparkSession, name: str) -> Any:
    session: Any = spark
    jvm = session._jvm  # noqa: SLF001 - PySpark has no public way
    # py4j returns a JavaPackage for an unknown name, so only a JavaClass proves that the class exists.
    for package in PACKAGES:
        found = getattr(jvm, f"{package}.{name}")
        if isinstance(found, JavaClass):
            return found
    raise LookupError(f"Spark {spark.version} has no {name} in {' or '.join(PACKAGES)}")
