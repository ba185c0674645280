"""More than one driver, or an old one: what is refused, and what a second one finds."""

from __future__ import annotations

import os
import signal
import time

from tests.cluster.stage import RUN_S, Stage, await_more
from tests.end_to_end.commits import Commits
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.job_process import JobProcess

_OLDER = "is older than the tables"


def two_drivers(stage: Stage) -> Result:
    """Two of them on one checkpoint: one ends, the other goes on."""
    installation = stage.installed(stage.installation("two-drivers"))
    with Commits(installation), stage.submit(installation, cores=1) as first:
        await_more(installation, first)
        with stage.submit(installation, cores=1) as second:
            survivor = _survivor(first, second)
            await_more(installation, survivor)
    stage.run_to_end(installation, "--drain", "--with-compaction")
    return judged("two-drivers", installation, 3)


def _survivor(first: JobProcess, second: JobProcess) -> JobProcess:
    deadline_s = time.monotonic() + RUN_S
    while time.monotonic() < deadline_s:
        if not first.is_alive:
            return second
        if not second.is_alive:
            return first
        time.sleep(0.5)
    raise AssertionError(f"both go on:\n{first.log}\n{second.log}")


def frozen_driver(stage: Stage) -> Result:
    """A driver that wakes up after another one has taken its place ends by itself."""
    installation = stage.installed(stage.installation("frozen-driver"))
    problems = []
    with Commits(installation), stage.submit(installation, cores=1) as frozen:
        await_more(installation, frozen)
        group = os.getpgid(frozen.pid)
        os.killpg(group, signal.SIGSTOP)
        with stage.submit(installation, cores=1) as second:
            await_more(installation, second)
            os.killpg(group, signal.SIGCONT)
            status = frozen.wait(RUN_S)
            await_more(installation, second)
            problems += [] if status else ["the frozen driver ended with status 0"]
            second.stop()
    stage.run_to_end(installation, "--drain", "--with-compaction")
    result = judged("frozen-driver", installation, 3)
    result.problems += problems
    return result


def restored_checkpoint(stage: Stage) -> Result:
    """A checkpoint from a backup is refused before it answers; a rebuilt one loses nothing."""
    installation = stage.installed(stage.installation("restored-checkpoint"))
    store, checkpoint = installation.store, installation.checkpoint
    backup = f"{checkpoint}-backup"
    problems = []
    with Commits(installation):
        with stage.submit(installation) as job:
            await_more(installation, job)
            job.stop()
        store.copy(checkpoint, backup)
        with stage.submit(installation) as job:
            await_more(installation, job)
            job.stop()
        store.remove(checkpoint)
        store.copy(backup, checkpoint)
        with stage.submit(installation) as job:
            status = job.wait(RUN_S)
            if status != 1 or _OLDER not in job.log.splitlines()[-1]:
                problems.append(f"status {status}: {job.log[-300:]}")
        store.remove(checkpoint)
        stage.run_to_end(installation, script="rebuild_checkpoint.py")
    stage.run_to_end(installation, "--drain", "--with-compaction")
    result = judged("restored-checkpoint", installation, 4)
    result.problems += problems
    return result
