"""Many kills at random moments while events keep flowing; the log itself says what should have come of them."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from threading import Event

from tests.end_to_end.installation import Installation, Row
from tests.faults.result import Result
from tests.faults.scene import Scene, drain
from tests.faults.traffic import Traffic
from tests.job_process import JobProcess

_LOG_COLUMNS = (
    "group_id",
    "key",
    "value",
    "reason",
    "principal",
    "source_partition",
    "source_offset",
)
_START_S, _BATCH_S = 10.0, 1.5
_KILLS_IN_START = 0.2
_MEMBERS_TIMEOUT_S = 180
_POLL_S = 0.1

Say = Callable[[str], None]


def soak(scene: Scene, kills: int, seed: int, say: Say = lambda _: None) -> Result:
    """Kill so many times, then let the job read the rest.

    The first kill comes when all members have begun to commit, the others at a random moment after some batches, one
    in five while the job still starts.
    """
    installation = scene.installation("soak", "events.topic=events-soak")
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    with Traffic(installation) as traffic:
        for number in range(1, kills + 1):
            if number == 1:
                _run_until_members_commit(installation, traffic)
            else:
                _run_and_kill(installation, chance)
            say(f"kill {number} of {kills}, {traffic.commits} commits")
    drain(installation)
    result = _judged(installation, kills)
    result.problems += traffic.failures
    result.figures |= {"commits": traffic.commits, "member commits": sum(traffic.member_commits)}
    return result


def _run_until_members_commit(installation: Installation, traffic: Traffic) -> None:
    with JobProcess(_arguments(installation), installation.folder) as job:
        deadline = time.monotonic() + _MEMBERS_TIMEOUT_S
        while not traffic.have_all_committed:
            job.check_alive()
            assert time.monotonic() < deadline, f"members do not get to work: {job.log}"
            time.sleep(_POLL_S)
        job.kill()


def _arguments(installation: Installation) -> list[str]:
    return ["run", "--with-compaction", *installation.options]


def _run_and_kill(installation: Installation, chance: random.Random) -> None:
    with JobProcess(_arguments(installation), installation.folder) as job:
        if chance.random() < _KILLS_IN_START:
            Event().wait(chance.uniform(0, _START_S))
        else:
            installation.await_batches(chance.randint(1, 3), job)
            Event().wait(chance.uniform(0, _BATCH_S))
        job.check_alive()
        job.kill()


def _judged(installation: Installation, kills: int) -> Result:
    expected = Counter(map(_fact, installation.expected_lines("L")))
    log = [_parsed(row) for row in installation.rows(_LOG_IN_ORDER)]
    found = Counter(map(_fact, log))
    asked = {line["id"] for line in installation.expected_lines("R")}
    answers = installation.answers()
    problems = [
        *_told("records lost", (expected - found).elements()),
        *_told("records doubled or changed", (found - expected).elements()),
        *_told("requests without a response", asked - answers.keys()),
        *_told("responses to no request", answers.keys() - asked),
        *_told("different answers to one", (e for e, s in answers.items() if len(set(s)) > 1)),
        *_told("offsets that went back", _backward(log)),
        *_told("offsets that are not the last committed", _not_last(installation, log)),
    ]
    figures = {
        "records": len(log),
        "responses": len(answers),
        "repeated responses": sum(len(sent) - 1 for sent in answers.values()),
    }
    lost = (expected - found).total() + len(asked - answers.keys())
    doubled = (found - expected).total() + len(answers.keys() - asked)
    return Result("soak", kills + 1, lost, doubled, problems, figures)


_LOG_IN_ORDER = "SELECT * FROM coordinator_log ORDER BY group_id, batch_id, seq"


def _parsed(row: Row) -> Row:
    return row | {"key": json.loads(row["key"]), "value": json.loads(row["value"] or "null")}


def _fact(row: Row) -> str:
    return json.dumps([row[column] for column in _LOG_COLUMNS], sort_keys=True)


def _told(what: str, those: Iterable[object]) -> list[str]:
    found = list(those)
    return [f"{len(found)} {what}, such as {found[0]}"] if found else []


def _partition(row: Row) -> tuple[str, str, int]:
    return row["group_id"], row["topic"], row["partition"]


def _backward(log: list[Row]) -> list[str]:
    """Commits of a partition, in the order of the log, whose offset is not above the one before."""
    commits = sorted((row for row in log if row["offset"] is not None), key=_partition)  # stable
    return [
        f"{_partition(after)}: {before['offset']}, then {after['offset']}"
        for before, after in pairwise(commits)
        if _partition(before) == _partition(after) and before["offset"] >= after["offset"]
    ]


def _not_last(installation: Installation, log: list[Row]) -> list[str]:
    last = {_partition(row): row["offset"] for row in log if row["offset"] is not None}
    now = {
        _partition(row): row["committed_offset"]
        for row in installation.rows("SELECT * FROM offsets")
    }
    wrong = dict(now.items() ^ last.items())
    return [f"{key}: {now.get(key)}, but {last.get(key)} was committed" for key in wrong]
