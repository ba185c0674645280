"""SIGKILL for the gateway, the broker or the job while records flow and commits are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from group_coordinator.clients.sql_tables import rows
from tests.end_to_end.installation import Installation
from tests.faults.result import Result
from tests.gateway_faults.readers import PARTITIONS, TOPIC, Traffic
from tests.gateway_faults.stage import Stage, open_stage
from tests.support.stores import s3
from tests.support.until import until

_BEFORE_S, _AFTER_S = 5.0, 8.0
_MEET_S, _RESUME_S = 90.0, 120.0
_KILL_COUNT = {"gateway": 2, "broker": 1, "job": 1}


def killed(stage: Stage, what: str) -> Result:
    """Kill the gateway, the broker or the job under groups that the job has."""
    stage.start_job()
    stage.await_job()
    result = _judged(stage, f"kill-{what}", what, stage.bootstrap_servers)
    result.figures["groups in the tables"] = groups_in_tables(stage.installation)
    result.problems += stage.differences()
    return result


def job_away(folder: Path) -> Result:
    """Kill the job for two minutes, in which the replica answers; then the job must confirm every response."""
    with open_stage(folder) as stage:
        return _away(stage, "job-away", partial(_without_job, stage), 120.0)


def store_away(folder: Path) -> Result:
    """The job's checkpoint is on S3, which is away for a minute: the replica answers, and the job goes on by itself."""
    (folder / "store").mkdir()
    with (
        s3(folder / "store") as store,
        open_stage(folder, more=(store.settings(folder)[1],)) as stage,
    ):
        return _away(stage, "store-away", store.away, 60.0)


@contextmanager
def _without_job(stage: Stage) -> Iterator[None]:
    stage.kill_job()
    yield
    stage.start_job()


def _away(
    stage: Stage, fault: str, away: Callable[[], AbstractContextManager[None]], seconds: float
) -> Result:
    """Commits go on while the job decides nothing; then it must confirm every response of that time."""
    stage.start_job()
    stage.await_job()
    traffic = _with_topic(stage.bootstrap_servers)
    with traffic.flowing():
        all_commit(traffic, _MEET_S)
        time.sleep(_BEFORE_S)
        with away():
            begun_s, longest_s = time.monotonic(), 0.0
            while time.monotonic() < begun_s + seconds:
                asked_s = time.monotonic()
                all_commit(traffic, _RESUME_S)
                longest_s = max(longest_s, time.monotonic() - asked_s)
            answers = stage.replica("answers_total")
        until(
            lambda: stage.replica("equal_total") >= answers,
            seconds=_RESUME_S,
            awaited="the job's responses",
        )
        time.sleep(_AFTER_S)
    result = compared(traffic, fault, 1)
    result.problems += stage.differences()
    result.figures |= {
        "longest_s_until_all_commit_twice": round(longest_s, 1),
        "responses by the replica until the job came": answers,
        "responses that the job confirmed": stage.replica("equal_total"),
        "groups in the tables": groups_in_tables(stage.installation),
    }
    return result


def killed_at_kafka_alone(folder: Path) -> Result:
    """What the kill of a broker does to groups that this broker has."""
    with ExitStack() as resources:
        stage = Stage(folder, resources)
        return _judged(stage, "kill-kafka-alone", "broker", stage.broker_servers)


def _judged(stage: Stage, fault: str, what: str, servers: str) -> Result:
    """Kill while all groups read and commit; each must commit again after each kill."""
    traffic = _with_topic(servers)
    longest_s = 0.0
    with traffic.flowing():
        all_commit(traffic, _MEET_S)
        for _ in range(_KILL_COUNT[what]):
            time.sleep(_BEFORE_S)
            begun_s = time.monotonic()
            stage.kill(what)
            all_commit(traffic, _RESUME_S)
            longest_s = max(longest_s, time.monotonic() - begun_s)
        time.sleep(_AFTER_S)
    result = compared(traffic, fault, _KILL_COUNT[what])
    result.figures["longest_s_until_all_commit_again"] = round(longest_s, 1)
    return result


def _with_topic(servers: str) -> Traffic:
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)], wait_for_metadata=True)
    return Traffic(servers)


def all_commit(traffic: Traffic, seconds: float) -> None:
    """Return when each group has committed once more, beginning now: what is under way may be of before."""
    wanted = [group.commit_count + 2 for group in traffic.groups]
    until(
        lambda: all(
            group.commit_count >= count for group, count in zip(traffic.groups, wanted, strict=True)
        ),
        seconds=seconds,
        awaited=lambda: (
            f"commits: {[(g.group_id, g.commit_count, g.failed_commits[-1:]) for g in traffic.groups]}, "
            f"clients that gave up: {traffic.failures}"
        ),
    )


def compared(traffic: Traffic, fault: str, kill_count: int) -> Result:
    """When everybody has read what there is: what was lost, doubled or refused."""
    lost, problems = 0, [f"a client gave up: {failure}" for failure in traffic.failures]
    for group in traffic.groups:
        missing = sum(len(offsets - group.read[p]) for p, offsets in traffic.confirmed.items())
        lost += missing
        if missing:
            problems.append(f"{group.group_id} did not read {missing} confirmed records")
    doubled = [each for group in traffic.groups for each in group.below_commits]
    if doubled:
        problems.append(f"{len(doubled)} records read again below a commit, such as {doubled[0]}")
    if traffic.unconfirmed:
        problems.append(f"{len(traffic.unconfirmed)} records not taken: {traffic.unconfirmed[0]}")
    figures = {
        "records": traffic.confirmed_count(),
        "commits": sum(group.commit_count for group in traffic.groups),
        "commits refused or unanswered": sum(len(g.failed_commits) for g in traffic.groups),
        "read again above the last commit": sum(g.repeat_count for g in traffic.groups)
        - len(doubled),
        "polls that failed": sum(g.failed_poll_count for g in traffic.groups),
    }
    return Result(fault, kill_count, lost, len(doubled), problems, figures)


def groups_in_tables(installation: Installation) -> int:
    """What compaction has made of them."""
    [found] = rows(installation.tables_root, "SELECT count(*) AS groups FROM groups")
    count: int = found["groups"]
    return count
