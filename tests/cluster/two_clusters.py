"""Coordinators of two clusters that write the same tables at once."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from deltalake import DeltaTable

from tests.cluster.life import stopped
from tests.cluster.stage import RUN_S, Stage, await_more
from tests.end_to_end.commits import Commits
from tests.end_to_end.installation import Installation
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.support.job_process import JobProcess

_OFTEN = ("maintenance.interval.ms=60000", "maintenance.new.files=5")
_WITH_UPKEEP_OFTEN = """
from group_coordinator.tables import maintenance

maintenance.LOOK_EVERY_S = maintenance._LOOK_AT_A_STORE_EVERY_S = 10

from group_coordinator.cli.submitted import run

run()
"""
"""Looks are a minute apart otherwise, and five where the tables are on S3."""
_FAILURE = re.compile(r"^.*(?:maintenance of table \w+ failed|compaction failed).*$", re.MULTILINE)
_IN_TURNS = "another process changes table"


def two_clusters(stage: Stage) -> Result:
    """Both answer, compact and put files together; one is killed, and started again."""
    east = stage.installed(stage.installation("two-clusters", "cluster.id=east", *_OFTEN))
    shared = f"tables.root={east.tables_root}"
    west = stage.installation("two-clusters-west", "cluster.id=west", shared, *_OFTEN)
    stage.make_topics(west)
    problems = []
    with Commits(east), Commits(west), _started(stage, east) as steady:
        with _started(stage, west) as killed:
            _await_work_of_both({east: steady, west: killed})
            killed.kill()
        await_more(east, steady)
        with _started(stage, west) as again:
            await_more(west, again)
            await_more(east, steady)
            problems += stopped(again, west)
        problems += stopped(steady, east)
    for each in (east, west):
        stage.run_to_end(each, "--drain", "--with-compaction", "--set", "maintenance.interval.ms=0")
    return _of_both(east, west, problems)


def _started(stage: Stage, installation: Installation) -> JobProcess:
    script = Path(stage.cluster.packages).parent / "jobs" / "run_with_upkeep_often.py"
    script.write_text(_WITH_UPKEEP_OFTEN)
    return stage.submit(installation, "--with-compaction", script=script.name, cores=1)


def _await_work_of_both(jobs: dict[Installation, JobProcess]) -> None:
    """More records of each, and each has put files together once more."""
    for each, job in jobs.items():
        await_more(each, job)
        before = _put_together(each)
        job.until(partial(_have_all_grown, before, each), seconds=RUN_S, awaited="upkeep", poll_s=2)


def _have_all_grown(before: dict[str, int], installation: Installation) -> bool:
    now = _put_together(installation)
    return all(now[table] > before[table] for table in before)


def _put_together(installation: Installation) -> dict[str, int]:
    """How often files were, by table; those of the log are of both clusters."""
    cluster_id = installation.settings.job.cluster_id
    predicates = {"coordinator_log": "", "offsets": cluster_id}
    return {
        table: sum(
            commit["operation"] == "OPTIMIZE" and predicate in str(commit["operationParameters"])
            for commit in DeltaTable(f"{installation.tables_root}/{table}").history()
        )
        for table, predicate in predicates.items()
    }


def _of_both(east: Installation, west: Installation, problems: list[str]) -> Result:
    results = [judged(each.settings.job.cluster_id, each, 3) for each in (east, west)]
    logs = [
        log.read_text(errors="replace")
        for each in (east, west)
        for log in each.folder.glob("run_*.log")
    ]
    problems += [failure[0] for log in logs for failure in _FAILURE.finditer(log)]
    problems += [f"{each.fault}: {problem}" for each in results for problem in each.problems]
    figures = {each.fault: each.figures for each in results}
    figures["files put together"] = {"east": _put_together(east), "west": _put_together(west)}
    figures["upkeep waited for the other one"] = sum(log.count(_IN_TURNS) for log in logs)
    lost, doubled = sum(each.lost for each in results), sum(each.doubled for each in results)
    return Result("two-clusters", 5, lost, doubled, problems, figures)
