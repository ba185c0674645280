"""Many kills at random moments while events keep flowing; the log itself says what should have come of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from threading import Event

from tests.end_to_end.installation import Installation
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.faults.scene import Scene, run_to_end
from tests.faults.temporary_folder import (
    problems_after_a_kill,
    problems_after_an_end,
    variables_for,
)
from tests.faults.traffic import Traffic
from tests.support.job_process import JobProcess

_START_S, _BATCH_S = 10.0, 1.5
_KILLS_IN_START = 0.2
_MEMBERS_TIMEOUT_S = 180
_POLL_S = 0.1

Say = Callable[[str], None]


def soak(scene: Scene, kills: int, seed: int, say: Say = lambda _: None) -> Result:
    """Kill so many times, then let the job read the rest.

    The first kill comes when all members have begun to commit, the others at a random moment after some batches, one
    in five while the job still starts. The runs have a temporary folder of their own.
    """
    installation = scene.installation("soak", "events.topic=events-soak")
    temporary = installation.folder / "temporary"
    temporary.mkdir()
    problems: list[str] = []
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    with Traffic(installation) as traffic:
        for number in range(1, kills + 1):
            if number == 1:
                _run_until_members_commit(_started(installation, temporary), traffic)
                problems += problems_after_a_kill(temporary)
            else:
                _run_and_kill(_started(installation, temporary), installation, chance)
            say(f"kill {number} of {kills}, {traffic.commits} commits")
    run_to_end(
        installation, "run", "--drain", "--with-compaction", variables=variables_for(temporary)
    )
    result = judged("soak", installation, kills + 1)
    result.problems += [*problems, *problems_after_an_end(temporary), *traffic.failures]
    result.figures |= {"commits": traffic.commits, "member commits": sum(traffic.member_commits)}
    return result


def _started(installation: Installation, temporary: Path) -> JobProcess:
    arguments = ["run", "--with-compaction", *installation.options]
    return JobProcess(arguments, installation.folder, variables=variables_for(temporary))


def _run_until_members_commit(started: JobProcess, traffic: Traffic) -> None:
    with started as job:
        job.until(
            lambda: traffic.have_all_committed,
            seconds=_MEMBERS_TIMEOUT_S,
            awaited="commits of all members",
            poll_s=_POLL_S,
        )
        job.kill()


def _run_and_kill(started: JobProcess, installation: Installation, chance: random.Random) -> None:
    with started as job:
        if chance.random() < _KILLS_IN_START:
            Event().wait(chance.uniform(0, _START_S))
        else:
            installation.await_batches(chance.randint(1, 3), job)
            Event().wait(chance.uniform(0, _BATCH_S))
        job.check_alive()
        job.kill()
