"""Spark settings for a single write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def session_conf(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set Spark settings during the block.

    A session outlives its batch: remaining settings would apply to later writes.
    """
    # One call into the JVM instead of one per key.
    all_of_them = session.conf.getAll
    before = {key: all_of_them[key] for key in settings if key in all_of_them}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            if key in before:
                session.conf.set(key, before[key])
            else:
                session.conf.unset(key)
