"""The lines of Spark that the job was seen to run on, and the jars of each. It imports nothing of Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass


class UnknownSparkError(Exception):
    """The job was not seen to run on this Spark; the message says on which it was, and what to do."""


@dataclass(frozen=True, slots=True)
class SparkLine:
    """What a session needs beside Spark itself, as Maven's coordinates."""

    connector: str
    token_provider: str
    """A part of the connector; where its own version is not to be had, one that was seen to work with it."""
    delta: str
    s3: tuple[str, ...]
    """What S3 needs beside: hadoop-aws in Spark's version of Hadoop, and the parts of Amazon's SDK that it uses, which are
    a tenth of the bundle that it names. None: this Hadoop has no conditional PUT."""

    @property
    def packages(self) -> str:
        """For spark-submit's --packages, which finds the rest by itself."""
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
        _s3("3.5.0", "2.35.4"),
    ),
}
"""The first two numbers of a version -> what goes with it. `python -m tests.sparks` runs the job on each."""


def line_of(version: str) -> SparkLine:
    """What goes with this version of PySpark, such as 4.2.0.

    Raises:
        UnknownSparkError: there is no such line.
    """
    newer = newer_than(version)
    if newer is not None:
        raise UnknownSparkError(
            f"PySpark {version} is newer than {newer}, the newest that the job was seen to run on, and which jars go with "
            f"it is not known here: install PySpark {newer}, or submit the job with these jars (jobs/README.md)"
        )
    return LINES[_line(version)]


def newer_than(version: str) -> str | None:
    """The newest line, if this version of PySpark is of a later one.

    Raises:
        UnknownSparkError: it is of none of the lines, and not of a later one.
    """
    if _line(version) in LINES:
        return None
    newest = max(LINES, key=_numbers)
    if _numbers(version) > _numbers(newest):
        return newest
    raise UnknownSparkError(
        f"PySpark {version} is none of those that the job was seen to run on: it needs {' or '.join(LINES)}"
    )


def _line(version: str) -> str:
    return ".".join(map(str, _numbers(version)))


def _numbers(version: str) -> list[int]:
    # A release candidate such as 5.0rc1 has letters right after the second number.
    return [int(number) for number in re.findall(r"\d+", version)[:2]]
