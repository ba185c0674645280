"""Signals while Java is at work: the call is left alone, and what comes after it has its answers."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from group_coordinator.job.python_signals import TerminatedError
from group_coordinator.job.session_life import session

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGTERM, TerminatedError), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_ends_the_wait_for_java(
    spark: SparkSession, number: signal.Signals, raised: type[BaseException]
) -> None:
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no public way
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    with session(lambda: spark), pytest.raises(raised) as ended:
        jvm.java.lang.Thread.sleep(60_000)
    spark.sparkContext.setLogLevel("WARN")

    assert ended.type is raised
    assert spark.range(3).count() == 3
