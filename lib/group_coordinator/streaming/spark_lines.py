"""The lines of Spark that the job was seen to run on, and the jars of each. It imports nothing of Spark."""

from __future__ import annotations

from dataclasses import dataclass


class UnknownSparkError(Exception):
    """The job was not seen to run on this Spark; the message says on which it was."""


@dataclass(frozen=True, slots=True)
class SparkLine:
    """What a session needs beside Spark itself, as Maven's coordinates."""

    connector: str
    token_provider: str
    """A part of the connector; where its own version is not to be had, one that was seen to work with it."""
    delta: str

    @property
    def packages(self) -> str:
        """For spark-submit's --packages, which finds the rest by itself."""
        return f"{self.connector},{self.delta}"


LINES = {
    "4.0": SparkLine(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "io.delta:delta-spark_4.0_2.13:4.4.0",
    ),
    "4.1": SparkLine(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "io.delta:delta-spark_4.1_2.13:4.4.0",
    ),
    "4.2": SparkLine(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.2.0",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
    ),
}
"""The first two numbers of a version -> what goes with it. `python -m tests.sparks` runs the job on each."""


def line_of(version: str) -> SparkLine:
    """What goes with this version of PySpark, such as 4.0.4.

    Raises:
        UnknownSparkError: there is no such line.
    """
    found = LINES.get(".".join(version.split(".")[:2]))
    if found is None:
        raise UnknownSparkError(
            f"PySpark {version} is none of those that the job was seen to run on: it needs {' or '.join(LINES)}"
        )
    return found
