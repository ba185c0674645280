"""What happens around the job: another setting after a crash, a wrong clock, a Kafka that is away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from group_coordinator.core.model.errors import ErrorCode
from tests.cluster.stage import RUN_S, Stage
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import Installation
from tests.faults.judgement import contradictions, error_of
from tests.faults.members_away import Started, outage_outlived
from tests.faults.result import Result
from tests.support.job_process import JobProcess

_METADATA = "who"
_TURNS = (
    (int(ErrorCode.NONE), ()),
    (int(ErrorCode.OFFSET_METADATA_TOO_LARGE), ("--set", "offset.metadata.max.bytes=2")),
)
"""What every commit is told, and the setting that makes it so."""
_KILLS = 3
_ANSWERS = 60
_AWAY_S = 90.0

_CLOCK_AHEAD = """
import time

right = time.time_ns
time.time_ns = lambda: right() + 60_000_000_000

from group_coordinator.cli.submitted import run

run()
"""


def changed_setting(stage: Stage) -> Result:
    """The driver is killed under load and started with another setting; nobody is told two things."""
    installation = stage.installed(stage.installation("changed-setting"))
    with Commits(installation, metadata=_METADATA):
        for kill in range(_KILLS):
            error, options = _TURNS[kill % 2]
            with stage.submit(installation, *options) as job:
                _await_more_answers(installation, job, error)
                job.kill()
    stage.run_to_end(installation, "--drain", "--with-compaction")
    return contradictions("changed-setting", installation, _KILLS + 1)


def _await_more_answers(installation: Installation, job: JobProcess, error: int) -> None:
    """Answers that this setting gives: a start first gives those of the batch that the last one left open."""

    def given() -> int:
        return sum(error_of(sent[0]) == error for sent in installation.answers().values())

    wanted = given() + _ANSWERS
    job.until(
        lambda: given() >= wanted,
        seconds=RUN_S,
        awaited=f"{wanted} answers with error {error}",
        poll_s=1,
    )


def clock_ahead(stage: Stage) -> Result:
    """A driver whose clock is 60 s ahead is refused before it answers."""
    installation = stage.installed(stage.installation("clock-ahead"))
    script = Path(stage.cluster.packages).parent / "jobs" / "run_with_clock_ahead.py"
    script.write_text(_CLOCK_AHEAD)
    with stage.submit(installation, script=script.name) as job:
        status = job.wait(RUN_S)
    said = [line for line in job.log.splitlines() if line.startswith("Error: ")]
    problems = []
    if status != 1 or not said or "Error: the clock of this machine is " not in said[-1]:
        problems.append(f"status {status}: {job.log[-300:]}")
    if installation.answers():
        problems.append("it answered")
    return Result("clock-ahead", 1, 0, 0, problems)


def kafka_away(stage: Stage) -> Result:
    """Members that live are members still when Kafka is back, after several sessions' time."""

    def start(bootstrap_servers: str) -> Started:
        near = replace(stage, bootstrap_servers=bootstrap_servers)
        installation = near.installed(near.installation("kafka-away"))
        return installation, lambda: near.submit(installation)

    return outage_outlived("kafka-away", stage.folder / "kafka-away", _AWAY_S, start)
