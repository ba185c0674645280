"""Tested versions of Spark with their jars. Imports no module of Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass


class UnknownSparkError(Exception):
    """The job was not tested on this Spark. The message has the tested versions and the remedy."""


@dataclass(frozen=True, slots=True)
class SparkLine:
    """Maven coordinates of a session's jars in addition to Spark."""

    connector: str
    token_provider: str
    """A part of the connector; where its own version is not published, a version that was tested with it."""
    delta: str
    s3: tuple[str, ...]
    """hadoop-aws in Spark's version of Hadoop, and the used parts of Amazon's SDK. Empty: this Hadoop has no conditional PUT."""

    @property
    def packages(self) -> str:
        """Value of spark-submit's --packages, which finds the dependencies by itself."""
        return f"{self.connector},{self.delta}"


def _s3(hadoop: str, sdk: str) -> tuple[str, ...]:
    parts = ("s3", "s3-transfer-manager", "sts", "apache-client", "netty-nio-client")
    amazons = (f"software.amazon.awssdk:{part}:{sdk}" for part in parts)
    return (f"org.apache.hadoop:hadoop-aws:{hadoop}", *amazons)


LINES = {
    "4.0": SparkLine(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "io.delta:delta-spark_4.0_2.13:4.4.0",
        (),
    ),
    "4.1": SparkLine(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "io.delta:delta-spark_4.1_2.13:4.4.0",
        _s3("3.4.2", "2.29.52"),
    ),
    "4.2": SparkLine(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.2.0",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        _s3("3.5.0", "2.46.7"),
    ),
}
"""The first two numbers of a version -> its jars. `python -m tests.sparks` runs the job on each."""


def line_of(version: str) -> SparkLine:
    """Return the jars for this version of PySpark, such as 4.2.0. Raises UnknownSparkError: there is no such version."""
    newer = newer_than(version)
    if newer is not None:
        raise UnknownSparkError(
            f"PySpark {version} is newer than {newer}, the newest that the job is tested with, and its jars are "
            f"unknown: install PySpark {newer}, or submit the job with its jars (jobs/README.md)"
        )
    return LINES[_line(version)]


def newer_than(version: str) -> str | None:
    """Return the newest tested version, if this version of PySpark is later.

    Raises UnknownSparkError: it is untested, and not later.
    """
    if _line(version) in LINES:
        return None
    newest = max(LINES, key=_numbers)
    if _numbers(version) > _numbers(newest):
        return newest
    raise UnknownSparkError(f"PySpark {version} is not supported: install {' or '.join(LINES)}")


def _line(version: str) -> str:
    return ".".join(map(str, _numbers(version)))


def _numbers(version: str) -> list[int]:
    # A release candidate such as 5.0rc1 has letters right after the second number.
    return [int(number) for number in re.findall(r"\d+", version)[:2]]
