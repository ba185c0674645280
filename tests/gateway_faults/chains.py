"""SIGKILL in the middle of franz-go's chains of groups, which look themselves that no record is lost or read twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.result import Result
from tests.gateway_faults.chain_report import ChainReport
from tests.gateway_faults.stage import Stage, open_stage
from tests.peers.suite import Place
from tests.peers.suites.franz_go import FRANZ_GO, RECORDS, printed

_CHAINS = "^(TestGroupETL|TestTxnEtl)$"
_RECORD_COUNT = 10_000
_TIMEOUT_S = 500.0
_BEFORE_S = 12.0
_MOST_KILLS = {"gateway": 3, "broker": 2, "job": 1}


def chains_killed(folder: Path, what: str) -> Result:
    """Kill the gateway, the broker or the job while chains run through the gateway, whose job is on Spark."""
    with open_stage(folder, behind_door="gateway") as stage:
        stage.start_job()
        stage.await_job()
        return judged(stage, f"chains-kill-{what}", what, stage.bootstrap_servers)


def chains_at_kafka_alone(folder: Path) -> Result:
    """What the kill of a broker does to chains that have their groups from that broker."""
    with ExitStack() as resources:
        stage = Stage(folder, resources, behind_door="broker")
        return judged(stage, "chains-kafka-alone", "broker", stage.broker_servers)


def judged(stage: Stage, fault: str, what: str, servers: str) -> Result:
    """Kill it again and again while chains run; they must all pass."""
    tests = FRANZ_GO.obtain()
    with TemporaryDirectory(prefix="chains-") as folder, ThreadPoolExecutor(1) as beside:
        place = Place(servers, Path(folder))
        records = {RECORDS: str(_RECORD_COUNT)}
        running = beside.submit(printed, tests, place, _CHAINS, records, _TIMEOUT_S)
        moments = list(_kills(stage, what, running))
        report = ChainReport(running.result())
    hit = [len(report.running_at(moment)) for moment in moments]
    problems = list(report.problems())
    if not any(hit):
        problems.append(f"no chain ran when the {what} was killed")
    figures = {
        "chains": len(report.cases),
        "records a chain": _RECORD_COUNT,
        "chains running at each kill": hit,
        "chains that did not look": report.unchecked_count,
    }
    return Result(fault, len(moments), report.lost_count, report.doubled_count, problems, figures)


def _kills(stage: Stage, what: str, running: Future[str]) -> Iterator[datetime]:
    """When each kill was."""
    for _ in range(_MOST_KILLS[what]):
        wait([running], timeout=_BEFORE_S)
        if running.done():
            return
        yield datetime.now(UTC)
        stage.kill(what)
