"""Faults of those who run the job: it is started twice, or it is asked to end."""

from __future__ import annotations

import time
from pathlib import Path

from group_coordinator.streaming.checkpoint.layout import QUERY_NAME, checkpoint_of
from tests.end_to_end.installation import Installation
from tests.faults.result import Result, compared
from tests.faults.scene import RUN_S, Scene, drain
from tests.support.job_process import JobProcess

_LONGEST_STOP_S = 30
_REFUSAL = "Error: checkpoint {}: another run works on it"
_REFUSED = 1


def second_job(scene: Scene) -> Result:
    """Others on the same checkpoints are refused; after the first one was killed, the next one is not."""
    installation = scene.disturbed("second-job")
    problems: list[str] = []
    run = ["run", "--with-compaction", *installation.options]
    with JobProcess(run, installation.folder) as first:
        installation.await_batches(1, first)
        for command, query in (("run", QUERY_NAME), ("compact", "compaction")):
            problems += _not_refused(command, query, installation)
        first.check_alive()
        first.kill()
    drain(scene.installation("second-job"))
    result = compared("second-job", 4, scene.compare(installation))
    result.problems += problems
    return result


def _not_refused(command: str, query: str, installation: Installation) -> list[str]:
    folder = installation.folder / checkpoint_of(installation.settings.job, query)
    with JobProcess([command, *installation.options], installation.folder) as second:
        status = second.wait(RUN_S)
    if status == _REFUSED and _REFUSAL.format(folder) in second.log:
        return []
    return [f"a second `{command}` ended with status {status}: {second.log[-300:]}"]


def sigterm(scene: Scene) -> Result:
    """The job ends soon, between two batches: nothing is done again at the next start."""
    installation = scene.disturbed("sigterm")
    with JobProcess(
        ["run", "--with-compaction", *installation.options], installation.folder
    ) as job:
        installation.await_batches(2, job)
        start_s = time.monotonic()
        status = job.stop()
        stop_s = round(time.monotonic() - start_s, 1)
    begun = _batches_begun(installation)
    drain(scene.installation("sigterm"))
    repeats = sum(len(sent) - 1 for sent in installation.answers().values())
    result = compared("sigterm", 2, scene.compare(installation), status=status, stop_s=stop_s)
    result.doubled += repeats
    if status != 0:
        result.problems.append(f"the job ended with status {status}")
    if stop_s > _LONGEST_STOP_S:
        result.problems.append(f"the job took {stop_s} s to end")
    if begun or repeats:
        result.problems.append(f"batches {begun} done again, {repeats} responses repeated")
    return result


def _batches_begun(installation: Installation) -> list[int]:
    """Batches that have changed state, but that Spark does not hold for done."""
    checkpoint = installation.folder / checkpoint_of(installation.settings.job, QUERY_NAME)
    planned, done = (_numbers(checkpoint / log) for log in ("offsets", "commits"))
    return [
        batch for batch in planned - done if any(checkpoint.glob(f"state/0/*/{batch + 1}[._]*"))
    ]


def _numbers(folder: Path) -> set[int]:
    return {int(file.name) for file in folder.iterdir() if file.name.isdecimal()}
