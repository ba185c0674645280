"""`group-coordinator consume` in two groups of the job: one that was named, and one that names itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.end_to_end.installation import Installation
from tests.end_to_end.ordinary_clients import TOPIC

CONSUMED, TAKEN = "consumed", 5
"""The named group, and how many records each of the two commands takes."""
OF_ITSELF = """
SELECT count(*) FILTER (WHERE record_type = 2) AS changes, count(*) FILTER (WHERE record_type = 1) AS offsets
FROM coordinator_log WHERE group_id LIKE 'console-consumer-%'
"""
_TIMEOUT_S = 60.0


@contextmanager
def two_commands(installation: Installation) -> Iterator[None]:
    """In groups of the installation's job. They read while the block runs; at its end both have read, and left their groups."""
    running = [_start(installation, *words) for words in ((), ("--group", CONSUMED))]
    try:
        yield
        for process in running:
            _has_read(process)
    finally:
        for process in running:
            process.kill()
            process.communicate()
    [of_itself] = installation.rows(OF_ITSELF)
    assert of_itself["changes"] > 0
    assert of_itself["offsets"] == 0


def _start(installation: Installation, *words: str) -> subprocess.Popen[str]:
    settings = [word for each in installation.overrides for word in ("--set", each)]
    read = ["--topic", TOPIC, "--from-beginning", "--max-messages", str(TAKEN)]
    program = [sys.executable, "-m", "group_coordinator.cli.main", "consume"]
    return subprocess.Popen(  # noqa: S603 - a fixed program
        [
            *(*program, "--bootstrap-server", installation.bootstrap_servers),
            *(*settings, *read, *words),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _has_read(process: subprocess.Popen[str]) -> None:
    out, err = process.communicate(timeout=_TIMEOUT_S)
    assert len(out.splitlines()) == TAKEN, err
    assert (process.returncode, err) == (0, f"Processed a total of {TAKEN} messages\n")
