"""Checks of the executors before the first batch: their Python, and the PEM files of the login at the same path.

Workers import this module, so it imports no package that they may lack.
"""

from __future__ import annotations

import logging
import os
import platform
import re
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import group_coordinator
from group_coordinator.core.model.config import key_of
from group_coordinator.driver.errors import StartUpError
from group_coordinator.security import Security
from group_coordinator.streaming.operator.known_pyspark import (
    UnknownPySparkError,
    Wanted,
    chosen,
    digest_here,
)


def is_on_this_machine(spark: SparkSession) -> bool:
    """Return True if driver and tasks are in one process, not on the machines of a cluster."""
    return (spark.sparkContext.master or "local").startswith("local")


# Tasks: usually more than one on every executor.
_TASKS = 32
_PACKAGES = ("msgspec", "numpy", "pandas", "pyarrow")
_CAUSE = re.compile(
    r"(?:ModuleNotFoundError|ImportError|\[PYTHON_VERSION_MISMATCH\]|Cannot run program)[^\n]*"
)
_CURE = (
    "give the driver and all workers one environment with the wheel at the same path, and "
    "--conf spark.pyspark.python=PATH/bin/python"
)

_log = logging.getLogger(__name__)


class Worker(NamedTuple):
    """The packages of a Python process: the versions as a text, and the digest of PySpark's sources (known_pyspark.py)."""

    versions: str
    pyspark_digest: str | None


def check_workers(spark: SparkSession, exchange: Wanted) -> None:
    """Refuse workers unlike the driver, and log the exchange of rows. Raises StartUpError."""
    _log.info("%s", exchange_message(exchange, workers_like_the_driver(spark)))


def workers_like_the_driver(spark: SparkSession) -> set[Worker]:
    """Return the packages of the workers, with the driver's versions. Raises StartUpError with the remedy."""
    here = worker_here()
    # On this machine the workers are started by the driver's own Python.
    workers = {here} if is_on_this_machine(spark) else _asked(spark)
    check_versions(here.versions, workers)
    return workers


def worker_here() -> Worker:
    packages = (f"{name} {_version_of(name)}" for name in _PACKAGES)
    python = ".".join(platform.python_version_tuple()[:2])
    ours = f"group_coordinator {group_coordinator.__version__}"
    # From the module: where Spark includes PySpark, no package of that name is installed.
    sparks = f"pyspark {pyspark.__version__}"
    return Worker(", ".join((f"Python {python}", ours, sparks, *packages)), digest_here())


def check_versions(here: str, workers: Iterable[Worker]) -> None:
    """Refuse workers with other versions. Raises StartUpError, with the first versions that differ."""
    others = sorted(worker.versions for worker in workers if worker.versions != here)
    if others:
        raise StartUpError(
            f"Python on the workers differs from the driver's: {others[0]}, and here {here}: {_CURE}"
        )


def exchange_message(wanted: Wanted, workers: Iterable[Worker]) -> str:
    """Return the exchange that the workers will choose. Raises StartUpError if `lean` is untested with a worker's PySpark."""
    digests = sorted({str(worker.pyspark_digest) for worker in workers})
    try:
        exchanges = {chosen(wanted, digest) for digest in digests}
    except UnknownPySparkError as error:
        raise StartUpError(str(error)) from error
    found = f"PySpark {pyspark.__version__}, sources {', '.join(digests)}"
    return f"exchange = {wanted}: {' or '.join(sorted(exchanges))} on the workers ({found})"


def _asked(spark: SparkSession) -> set[Worker]:
    try:
        tasks = spark.sparkContext.parallelize(range(_TASKS), _TASKS)
        return set(tasks.map(lambda _: worker_here()).collect())
    except (Py4JJavaError, PySparkException) as failure:
        cause = _CAUSE.search(str(failure))
        # Any other failure has nothing to do with the workers' Python.
        if cause is None:
            raise
        raise StartUpError(f"Python on the workers: {cause[0].strip()}: {_CURE}") from failure


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


_FIELDS = ("ssl_truststore_location", "ssl_keystore_location")


def check_certificates(spark: SparkSession, security: Security) -> None:
    """Refuse executors that lack a PEM file of the settings, or have another file in its place, with StartUpError."""
    files = {key_of(name): file for name in _FIELDS if (file := getattr(security, name))}
    if not files or is_on_this_machine(spark):
        return
    here = {key: _content(file) for key, file in files.items()}
    for key, content in here.items():
        if not content:
            raise StartUpError(f"{key} = {files[key]} cannot be read on the driver")
    tasks = spark.sparkContext.parallelize(range(_TASKS), _TASKS)
    found = set(tasks.mapPartitions(lambda _: _found(files)).collect())
    for key, machine, content in sorted(found):
        if content != here[key]:
            what = "is another file" if content else "cannot be read"
            raise StartUpError(
                f"{key} = {files[key]} {what} on the executor {machine}: put the driver's file at the same path on all "
                "machines"
            )


def _found(files: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    for key, file in files.items():
        yield key, os.uname().nodename, _content(file)


def _content(file: str) -> str:
    try:
        return sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""
