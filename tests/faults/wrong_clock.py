"""The job is started on a machine whose clock is ahead of the brokers'."""

from __future__ import annotations

from tests.faults.result import Result
from tests.faults.scene import RUN_S, Scene
from tests.support.job_process import JobProcess

_AHEAD_MS = 60_000
_REFUSED = 1


def clock_ahead(scene: Scene) -> Result:
    """It is refused with one sentence, before anything is answered."""
    installation = scene.installation("clock-ahead")
    program = ("tests.faults.job_with_clock", str(_AHEAD_MS))
    with JobProcess(["run", *installation.options], installation.folder, program=program) as job:
        status = job.wait(RUN_S)
    sentence = job.log.splitlines()[-1]
    problems = []
    if status != _REFUSED or "Error: the clock of this machine is " not in sentence:
        problems.append(f"status {status}: {sentence}")
    if installation.answers():
        problems.append("it answered")
    return Result("clock-ahead", 1, 0, 0, problems, {"ahead_ms": _AHEAD_MS})
