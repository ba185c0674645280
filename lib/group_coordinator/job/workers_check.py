"""The Python of the executors: what a batch would trip over, found out before the first one."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, version

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import group_coordinator
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.streaming.master import is_on_this_machine

_TASKS = 32
"""More than one on every executor, as a rule."""
_PACKAGES = ("msgspec", "numpy", "pandas", "pyarrow")
_CAUSE = re.compile(
    r"(?:ModuleNotFoundError|ImportError|\[PYTHON_VERSION_MISMATCH\]|Cannot run program)[^\n]*"
)
_CURE = (
    "give the driver and all workers one environment with the wheel at the same path, and "
    "--conf spark.pyspark.python=PATH/bin/python"
)


def check_workers(spark: SparkSession) -> None:
    """Refuse workers whose Python lacks a package, or has other versions than the driver's.

    Raises:
        JobRefusedError: the message says what they have, and what to do.
    """
    if is_on_this_machine(spark):
        return
    try:
        tasks = spark.sparkContext.parallelize(range(_TASKS), _TASKS)
        found = set(tasks.map(lambda _: versions_here()).collect())
    except (Py4JJavaError, PySparkException) as failure:
        cause = _CAUSE.search(str(failure))
        if cause is None:
            raise
        raise JobRefusedError(f"Python on the workers: {cause[0].strip()}: {_CURE}") from failure
    here = versions_here()
    others = sorted(of_a_worker for of_a_worker in found if of_a_worker != here)
    if others:
        raise JobRefusedError(
            f"Python on the workers differs from the driver's: {others[0]}, and here {here}: {_CURE}"
        )


def versions_here() -> str:
    """Of Python, of this program, and of the packages whose versions matter to Spark."""
    packages = (f"{name} {_version_of(name)}" for name in _PACKAGES)
    python = ".".join(platform.python_version_tuple()[:2])
    ours = f"group_coordinator {group_coordinator.__version__}"
    return ", ".join((f"Python {python}", ours, *packages))


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
