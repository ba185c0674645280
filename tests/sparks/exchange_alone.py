"""The tests of both exchanges in a session of PySpark alone: for a Spark that has neither a connector nor Delta yet.

Not among the tests of every run: pytest is given this file, by `python -m tests.sparks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.local.folders import scratch_folder
from group_coordinator.streaming.session import local_session
from tests.spark.conftest import OVERRIDES, set_compiled
from tests.spark.test_exchange import *  # noqa: F403
from tests.spark.test_shared_workers import *  # noqa: F403
from tests.support.job_process import ROOT

PIPELINED = "spark.python.udf.pipelined.enabled"
"""Since Spark 4.3: whether a thread of its own reads a worker's input."""


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with scratch_folder() as scratch:
        session = local_session(settings.load(overrides=OVERRIDES).job, (), scratch)
        set_compiled(session, with_code=False)
        session.sparkContext.environment["PYTHONPATH"] = str(ROOT)
        yield session
        session.stop()


@pytest.fixture(params=["false", "true"], ids=["one-thread", "pipelined"], autouse=True)
def pipelined(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    context: Any = spark.sparkContext
    context._jsc.sc().conf().set(PIPELINED, request.param)  # noqa: SLF001
