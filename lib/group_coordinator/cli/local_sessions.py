"""Spark on this machine for the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import session_jars
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.session import local_session


@contextmanager
def local_sessions() -> Iterator[Callable[[JobSettings], SparkSession]]:
    """Yield a function that starts Spark for a job. Jars are fetched only if it is called."""
    with scratch_folder() as scratch:
        yield lambda job: local_session(job, session_jars(job), scratch)
