"""Puts the jars of Spark's Kafka connector and of Delta next to the jars of the PySpark that runs this."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyspark

from group_coordinator.local.jars import spark_jars

if __name__ == "__main__":
    jars = Path(pyspark.__file__).parent / "jars"
    for jar in spark_jars():
        shutil.copy(jar, jars)
