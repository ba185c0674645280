"""What happens around the job: another setting after a crash, a wrong clock, a Kafka or a store that is away."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from subprocess import TimeoutExpired

from group_coordinator.core.model.errors import ErrorCode
from tests.cluster.stage import RUN_S, Stage, await_more
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import Installation
from tests.faults.judgement import contradictions, error_of, judged
from tests.faults.members_away import Started, outage_outlived
from tests.faults.result import Result
from tests.support.job_process import JobProcess
from tests.support.store_proxy import Mood

_METADATA = "who"
_TURNS = (
    (int(ErrorCode.NONE), ()),
    (int(ErrorCode.OFFSET_METADATA_TOO_LARGE), ("--set", "offset.metadata.max.bytes=2")),
)
"""What every commit is told, and the setting that makes it so."""
_KILLS = 3
_ANSWERS = 60
_AWAY_S = 90.0
_STORE_AWAY_S = 60.0

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


def store_away(
    stage: Stage, name: str = "store-away", mood: Mood = Mood.AWAY, away_s: float = _STORE_AWAY_S
) -> Result:
    """The store does not serve for a while: a job that ends says why in one sentence, and the next one loses nothing."""
    installation = stage.installed(stage.installation(name))
    status = None
    with Commits(installation):
        with stage.submit(installation) as job:
            await_more(installation, job)
            with stage.store.away(mood), suppress(TimeoutExpired):
                status = job.wait(away_s)
            if status is None:
                await_more(installation, job)
            said = job.log
        with stage.submit(installation) as job:
            await_more(installation, job)
    stage.run_to_end(installation, "--drain", "--with-compaction")
    result = judged(name, installation, 3)
    last_line = said.splitlines()[-1]
    if status is not None and not (status == 1 and last_line.startswith("Error: ")):
        result.problems.append(f"status {status}: {said[-500:]}")
    result.figures["ended while it was away"] = "no" if status is None else last_line
    return result


def store_slow_down(stage: Stage) -> Result:
    """The store says 503 SlowDown to every request for half a minute."""
    return store_away(stage, "store-slow-down", Mood.SLOW_DOWN, away_s=30)


def store_hangs(stage: Stage) -> Result:
    """The store takes requests, and answers none of them, for a minute."""
    return store_away(stage, "store-hangs", Mood.HANGS)


def store_denies(stage: Stage) -> Result:
    """The store says 403 to every request for half a minute: a key has run out, or a right was taken away."""
    return store_away(stage, "store-denies", Mood.DENIED, away_s=30)
