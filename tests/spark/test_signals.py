"""Signals during a call to Java, in a process of its own: py4j then closes connections of other threads too."""

from __future__ import annotations

import signal
import subprocess
import sys

import psutil
import pytest

from tests.support.until import until

pytestmark = pytest.mark.spark

PROGRAM = """
from group_coordinator import settings
from group_coordinator.driver.session import session
from group_coordinator.local.jars import spark_jars
from group_coordinator.local.folders import scratch_folder
from group_coordinator.streaming.session import local_session

with scratch_folder() as scratch:
    try:
        with session(lambda: local_session(settings.load().job, spark_jars(), scratch)) as spark:
            print("waits", flush=True)
            spark._jvm.java.lang.Thread.sleep(600_000)
    except KeyboardInterrupt as end:
        print(type(end).__name__, flush=True)
"""


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGTERM, "TerminatedError"), (signal.SIGINT, "KeyboardInterrupt")],
)
def test_a_signal_ends_the_wait_for_java(number: signal.Signals, raised: str) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:  # noqa: S603 - a fixed program
        assert process.stdout is not None
        assert process.stdout.readline() == b"waits\n"
        process.send_signal(number)
        assert process.communicate(timeout=120)[0].decode().splitlines()[-1] == raised
        assert process.returncode == 0


def test_a_signal_during_the_start_of_java_ends_it() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:  # noqa: S603 - a fixed program
        started = psutil.Process(process.pid).children
        (java,) = until(started, seconds=60, awaited="the start of Java")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=120)[0] == b"KeyboardInterrupt\n"

    _, remaining = psutil.wait_procs([java], timeout=60)
    assert remaining == []
