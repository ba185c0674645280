"""What should have come of an installation's events, by the log of events itself, and what did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from tests.end_to_end.installation import Installation, Row
from tests.faults.result import Result

_LOG_COLUMNS = (
    "group_id",
    "key",
    "value",
    "reason",
    "principal",
    "source_partition",
    "source_offset",
)


def judged(fault: str, installation: Installation, runs: int) -> Result:
    """Compare with what the state machine, without Spark, says to the events; all of them must have been read."""
    expected = Counter(map(_fact, installation.expected_lines("L")))
    log = [_parsed(row) for row in _log_in_order(installation)]
    found = Counter(map(_fact, log))
    places = Counter((row["group_id"], row["batch_id"], row["seq"]) for row in log)
    asked = {line["id"] for line in installation.expected_lines("R")}
    answers = installation.answers()
    problems = [
        *_told("records lost", (expected - found).elements()),
        *_told("records doubled or changed", (found - expected).elements()),
        *_told("records twice in the log", (at for at, times in places.items() if times > 1)),
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
    return Result(fault, runs, lost, doubled, problems, figures)


def contradictions(fault: str, installation: Installation, runs: int) -> Result:
    """Whether each commit was told one thing, and the log has exactly those that were told that they are taken.

    For runs with several settings: which of them a commit met does not follow from the events.
    """
    answers = installation.answers()
    taken = {each for each, sent in answers.items() if error_of(sent[0]) == 0}
    rows = _log_in_order(installation)
    log = Counter(
        f"{row['source_topic']}-{row['source_partition']}-{row['source_offset']}" for row in rows
    )
    refused = len(answers) - len(taken)
    problems = [
        *_told("different answers to one", (e for e, s in answers.items() if len(set(s)) > 1)),
        *_told("taken and not in the log", taken - log.keys()),
        *_told("in the log and not taken", log.keys() - taken),
        *_told("twice in the log", (each for each, times in log.items() if times > 1)),
    ]
    problems += [] if taken and refused else ["the setting made no difference"]
    figures = {"taken": len(taken), "refused": refused}
    lost, doubled = len(taken - log.keys()), log.total() - len(log)
    return Result(fault, runs, lost, doubled, problems, figures)


def error_of(answer: bytes) -> int:
    """What the answer to a commit of one partition says."""
    [topic] = json.loads(answer)["body"]["topics"]
    return int(topic["partitions"][0]["errorCode"])


def _log_in_order(installation: Installation) -> list[Row]:
    rows = _of_its_cluster(installation, "coordinator_log")
    return sorted(rows, key=lambda row: (row["group_id"], row["batch_id"], row["seq"]))


def _of_its_cluster(installation: Installation, table: str) -> list[Row]:
    """Other clusters may share the tables."""
    cluster_id = installation.settings.job.cluster_id
    return installation.rows(f"SELECT * FROM {table} WHERE cluster_id = '{cluster_id}'")  # noqa: S608 - of a test


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
        _partition(row): row["committed_offset"] for row in _of_its_cluster(installation, "offsets")
    }
    wrong = dict(now.items() ^ last.items())
    return [f"{key}: {now.get(key)}, but {last.get(key)} was committed" for key in wrong]
