"""The driver is killed at exact steps of a batch, and started again."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from tests.end_to_end.installation import Installation
from tests.faults.result import Result, compared
from tests.faults.scene import RUN_S, Scene, drain
from tests.faults.steps import WORKER_STEP
from tests.support.job_process import JobProcess

_LAUNCHER = "tests.faults.job_with_fault"
_BATCH = 1
"""Not the first: there is something to spoil."""
_RUN = ("run", "--with-compaction")


def driver_killed(scene: Scene, name: str, steps: Sequence[str]) -> Result:
    """Kill at one step after the other, each time after a restart, then let the job read all.

    A batch that is done again is killed again, at the next step.
    """
    installation = scene.disturbed(name)
    for step in steps:
        kill_at(step, installation)
    drain(scene.installation(name))
    return compared(name, len(steps) + 1, scene.compare(installation))


def kill_at(step: str, installation: Installation, first_batch: int = _BATCH) -> None:
    marker = _marker(installation, step)
    program = (_LAUNCHER, step, str(first_batch), str(marker))
    arguments = [*_RUN, *installation.options]
    with JobProcess(arguments, installation.folder, program=program) as job:
        assert job.wait(RUN_S) == -signal.SIGKILL, job.log
    assert marker.exists(), job.log


def worker_killed(scene: Scene) -> Result:
    """A Python worker dies in the middle of a batch: its task is tried again, and the job goes on."""
    installation = scene.installation(WORKER_STEP)
    marker = _marker(installation, WORKER_STEP)
    program = (_LAUNCHER, WORKER_STEP, "0", str(marker))
    arguments = [*_RUN, "--drain", *installation.options]
    with JobProcess(arguments, installation.folder, program=program) as job:
        status = job.wait(RUN_S)
    result = compared("kill-worker", 1, scene.compare(installation), status=status)
    if status != 0:
        result.problems.append(f"the job ended with status {status}")
    if not marker.exists():
        result.problems.append("no worker died")
    return result


def _marker(installation: Installation, step: str) -> Path:
    return installation.folder / f"{step}.happened"
