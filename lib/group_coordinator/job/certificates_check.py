"""The PEM files of the login: Kafka's clients on the executors open them at the same paths as the driver."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from pyspark.sql import SparkSession

from group_coordinator.core.model.config import key_of
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.security import Security
from group_coordinator.streaming.spark_lines import is_on_this_machine

_TASKS = 32
"""More than one on every executor, as a rule."""
_FIELDS = ("ssl_truststore_location", "ssl_keystore_location")


def check_certificates(spark: SparkSession, security: Security) -> None:
    """Refuse executors that lack a PEM file of the settings, or have another one in its place.

    Raises:
        JobRefusedError: the message names the setting, the file, a machine and what to do.
    """
    files = {key_of(name): file for name in _FIELDS if (file := getattr(security, name))}
    if not files or is_on_this_machine(spark):
        return
    here = {key: _content(file) for key, file in files.items()}
    for key, content in here.items():
        if not content:
            raise JobRefusedError(f"{key} = {files[key]} cannot be read on the driver")
    tasks = spark.sparkContext.parallelize(range(_TASKS), _TASKS)
    found = set(tasks.mapPartitions(lambda _: _found(files)).collect())
    for key, machine, content in sorted(found):
        if content != here[key]:
            what = "is another file" if content else "cannot be read"
            raise JobRefusedError(
                f"{key} = {files[key]} {what} on the executor {machine}: put the driver's file at the same path on all "
                "machines"
            )


def _found(files: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    for key, file in files.items():
        yield key, os.uname().nodename, _content(file)


def _content(file: str) -> str:
    """What tells one file from another; empty: it cannot be read."""
    try:
        return sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""
