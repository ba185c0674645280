"""Starts on a cluster that was not made ready: each ends with one sentence, before anything is answered."""

from __future__ import annotations

import re
import sys

from tests.cluster.stage import RUN_S, Stage
from tests.end_to_end.installation import Installation
from tests.faults.result import Result

_REFUSED = 1
_SYSTEMS_PYTHON = "/usr/bin/python3"
"""It has none of the packages."""
_CONF_OF_A_STRANGER = (
    *("--conf", f"spark.pyspark.python={_SYSTEMS_PYTHON}"),
    *("--conf", f"spark.pyspark.driver.python={sys.executable}"),
)


def refused_starts(stage: Stage) -> Result:
    """Another Python on the workers, no number of state partitions, a folder that is not shared."""
    installation = stage.installed(stage.installation("refused"))
    tried = {
        "Error: Python on the workers": (_CONF_OF_A_STRANGER, ()),
        "Error: shuffle.partitions = 0: ": ((), ("--set", "shuffle.partitions=0")),
        "Error: checkpoint.location = of/this/process is a folder that driver and executors do not share": (
            (),
            ("--set", "checkpoint.location=of/this/process"),
        ),
    }
    problems = _problems_of_a_check(stage, installation)
    for sentence, (confs, options) in tried.items():
        status, last_line = _tried(stage, installation, confs, options)
        if status != _REFUSED or not last_line.startswith(sentence):
            problems.append(f"{sentence}: status {status}: {last_line[:200]}")
    if installation.answers():
        problems.append("something was answered")
    return Result("refused-starts", len(tried), 0, 0, problems)


def _problems_of_a_check(stage: Stage, installation: Installation) -> list[str]:
    """Of a cluster that is ready, and of one whose workers are not."""
    with stage.submit(installation, script="check_setup.py") as job:
        status, said = job.wait(RUN_S), job.log
    problems = [f"a check of what is ready: status {status}: {said[-500:]}"] if status else []
    with stage.submit(installation, confs=_CONF_OF_A_STRANGER, script="check_setup.py") as job:
        status, said = job.wait(RUN_S), job.log
    if status != _REFUSED or not re.search(
        "^WRONG  workers +Python on the workers", said, re.MULTILINE
    ):
        problems.append(f"a check of workers without packages: status {status}: {said[-500:]}")
    return problems


def _tried(
    stage: Stage, installation: Installation, confs: tuple[str, ...], options: tuple[str, ...]
) -> tuple[int, str]:
    with stage.submit(installation, *options, confs=confs) as job:
        status = job.wait(RUN_S)
    said = [line for line in job.log.splitlines() if line.startswith("Error: ")]
    return status, said[-1] if said else ""
