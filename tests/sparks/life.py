"""One life of the job with the PySpark and the wheel of the environment that runs this: `python -m tests.sparks.life FOLDER STORE`.

Prints what became of it as JSON on the last line.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import group_coordinator
from group_coordinator.local.broker import EmbeddedBroker
from tests.cluster.life import stopped
from tests.cluster.stage import RUN_S, await_more
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import SETTINGS, Installation
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.job_process import JobProcess
from tests.support.stores import STORES

_EXCHANGE = re.compile(r"exchange = auto: (.*) on the workers")
_RUNS = 5


def one_life(installation: Installation) -> Result:
    """Commits come in while the job is stopped, killed, and loses its checkpoint; then it drains what is there."""
    problems = []
    _run_to_end(installation, "init")
    with Commits(installation):
        with _running(installation) as job:
            await_more(installation, job)
            problems += stopped(job, installation)
        with _running(installation) as job:
            await_more(installation, job)
            job.kill()
        with _running(installation) as job:
            await_more(installation, job)
            problems += stopped(job, installation)
        installation.store.remove(installation.settings.job.checkpoint_location)
        _run_to_end(installation, "rebuild")
        with _running(installation) as job:
            await_more(installation, job)
            problems += stopped(job, installation)
    _run_to_end(installation, "run", "--drain", "--with-compaction")
    result = judged("life", installation, _RUNS)
    result.problems += problems
    result.figures["exchange"] = _exchange(installation)
    return result


def _running(installation: Installation) -> JobProcess:
    return JobProcess(["run", "--with-compaction", *installation.options], installation.folder)


def _run_to_end(installation: Installation, *command: str) -> None:
    with JobProcess([*command, *installation.options], installation.folder) as process:
        assert process.wait(RUN_S) == 0, process.log


def _exchange(installation: Installation) -> str:
    log = (installation.folder / "run.log").read_text(encoding="utf-8")
    return ", ".join(sorted(set(_EXCHANGE.findall(log))))


def main() -> None:
    """In a folder that is given, with tables and checkpoint in the store that is given."""
    folder, store = Path(sys.argv[1]), STORES[sys.argv[2]]
    assert Path(group_coordinator.__file__).is_relative_to(sys.prefix), "not the wheel"
    (folder / "store").mkdir()
    with EmbeddedBroker() as broker, store(folder / "store") as opened:
        settings = (*SETTINGS, *opened.settings(folder))
        made = Installation.named("life", broker.bootstrap_servers, folder, settings, opened)
        result = one_life(made)
    sys.stdout.write(json.dumps(asdict(result)) + "\n")


if __name__ == "__main__":
    main()
