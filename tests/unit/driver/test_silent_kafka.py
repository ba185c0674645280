from __future__ import annotations

import subprocess
import sys

from tests.support.mute_listener import mute_listener

RUN = """
import sys
from threading import Event
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver import outages

outages._ORDERLY_S = 0.1
stop = Event()
with outages.ended_if_kafka_is_silent(Connection(sys.argv[1], {"bootstrap_timeout_ms": 500}), stop):
    stop.set()
    if sys.argv[2] == "waits":
        Event().wait()
"""


def run(server: str, what: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-c", RUN, server, what],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )


def test_a_run_that_waits_for_a_broker_that_does_not_answer_ends_by_one_sentence() -> None:
    with mute_listener() as broker:
        ended = run(broker.bootstrap_server, "waits")

    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert line.startswith(
        "the run is to stop, and ends without waiting for Kafka, which does not respond: Kafka at "
        f"{broker.bootstrap_server}: "
    )


def test_a_run_that_ends_by_itself_is_let_alone() -> None:
    with mute_listener() as broker:
        ended = run(broker.bootstrap_server, "ends")

    assert (ended.returncode, ended.stderr) == (0, "")
