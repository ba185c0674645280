"""One life of the job on the cluster: whatever it stands on is killed, one after the other, while commits come in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from tests.cluster.stage import Stage, await_more
from tests.cluster.standalone import Standalone
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import Installation
from tests.faults.events import ACLS
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.job_process import JobProcess

UGLY = ("Traceback", "INTERNAL_ERROR", "Exception in thread")
"""What a log must not have after a stop that was asked for."""


def one_life(stage: Stage) -> Result:
    """Executor, Python worker, a machine's daemon, and the driver are killed; at last the job is asked to stop.

    It goes by rules, which must reach the workers, or their tasks fail; who commits is a super user.
    """
    installation = stage.installed(stage.installation("life", *ACLS))
    went_on: dict[str, float] = {}
    problems: list[str] = []
    with Commits(installation):
        with stage.submit(installation, "--with-compaction") as job:
            await_more(installation, job)
            for name, kill in _KILLS.items():
                kill(stage.cluster)
                went_on[name] = _seconds_until_more(installation, job)
            stage.cluster.start_worker()
            job.kill()
        with stage.submit(installation, "--with-compaction") as job:
            went_on["driver"] = _seconds_until_more(installation, job)
            problems += stopped(job, installation)
    stage.run_to_end(installation, "--drain", "--with-compaction")
    result = judged("life", installation, stage.submitted)
    result.problems += problems
    result.figures |= {
        "went on after s": went_on,
        "longest answer s": _longest_answer_s(installation),
    }
    return result


def _kill_executor(cluster: Standalone) -> None:
    cluster.executors()[0].kill()


def _kill_python_worker(cluster: Standalone) -> None:
    cluster.python_workers()[0].kill()


_KILLS: dict[str, Callable[[Standalone], None]] = {
    "executor": _kill_executor,
    "Python worker": _kill_python_worker,
    "worker daemon": Standalone.kill_worker,
}


def stopped(job: JobProcess, installation: Installation) -> list[str]:
    """SIGTERM to spark-submit ends the job between two batches, with status 0 and nothing to frighten anybody."""
    status = job.stop()
    problems = [] if status == 0 else [f"SIGTERM: status {status}"]
    problems += [f"SIGTERM: {word} in the log" for word in UGLY if word in job.log]
    planned, done = (_numbers(installation, name) for name in ("offsets", "commits"))
    return problems + [f"SIGTERM: batch {batch} is open" for batch in planned - done]


def _numbers(installation: Installation, folder: str) -> set[int]:
    names = installation.store.names_in(f"{installation.checkpoint}/coordinator/{folder}")
    return {int(name) for name in names if name.isdecimal()}


def _seconds_until_more(installation: Installation, job: JobProcess) -> float:
    start_s = time.monotonic()
    await_more(installation, job)
    return round(time.monotonic() - start_s, 1)


def _longest_answer_s(installation: Installation) -> float:
    """From the brokers' stamp of a request to that of its first answer."""
    job = installation.settings.job
    asked = {
        f"{job.events_topic}-{record.partition}-{record.offset}": record.timestamp
        for record in installation.records(job.events_topic)
    }
    answered: dict[str, int] = {}
    for record in installation.records(job.responses_topic):
        event_id = json.loads(record.value)["id"]
        answered[event_id] = min(answered.get(event_id, record.timestamp), record.timestamp)
    return max((at - asked[event_id] for event_id, at in answered.items()), default=0) / 1000
