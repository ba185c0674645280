"""Catching up: the job was down for longer than sessions and offsets live, while their owners were at work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from threading import Event, Thread
from typing import Self

from kafka import KafkaProducer

from group_coordinator.clients.channel import Request, RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.member import classic
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from group_coordinator.clients.offset_messages import MemberIdentity
from tests.end_to_end.installation import Installation
from tests.faults.events import as_json, commit
from tests.faults.result import Result
from tests.faults.scene import RUN_S, Scene
from tests.support.job_process import JobProcess

LIFETIME_MS = 30_000
"""Of sessions and of offsets."""

_SETTINGS = (
    f"offsets.retention.ms={LIFETIME_MS}",
    "offsets.retention.check.interval.ms=1000",
    "group.initial.rebalance.delay.ms=0",
)
_OPTIONS = MemberOptions(session_timeout_ms=LIFETIME_MS, rebalance_timeout_ms=LIFETIME_MS)
_TEAMS = 5
_STEADY = 20
_PULSE_S = 2
_BACKLOG_GROUPS = 10_000
_READ_S = 3 * RUN_S
_EXPIRED = (
    "SELECT group_id, reason, event_time FROM coordinator_log WHERE reason IN "
    "('session-timeout', 'rebalance-timeout', 'offset-expired', 'group-expired') "
    "AND (group_id LIKE 'team-%' OR group_id LIKE 'steady-%') ORDER BY event_time"
)
_COUNT = "SELECT count(*) AS records FROM coordinator_log WHERE group_id LIKE 'backlog-%' AND offset IS NOT NULL"


_PACE = """
WITH batches AS (
    SELECT count(*) AS records, date_part('epoch', ingested_at) AS written_s
    FROM coordinator_log WHERE group_id LIKE 'backlog-%' GROUP BY ingested_at
)
SELECT sum(records) / (max(written_s) - (SELECT min(written_s) FROM batches)) AS events_per_s
FROM batches WHERE written_s > (SELECT min(written_s) FROM batches)
"""
"""From batch to batch, without the start of the job."""


def catch_up(scene: Scene, name: str, backlog: int, *overrides: str) -> Result:
    """No live member and no live offset may expire, neither while the job is down nor while it reads."""
    topic = f"events.topic=events-{name}"
    installation = scene.installation(name, topic, *_SETTINGS, *overrides)
    identities = _first_life(installation)
    with Pulse(installation, identities):
        down_s = time.monotonic()
        _write_backlog(installation, backlog)
        time.sleep(max(0, down_s + 2 * LIFETIME_MS / 1_000 - time.monotonic()))
        down_s = time.monotonic() - down_s
        start_s = time.monotonic()
        with JobProcess(["run", *installation.options], installation.folder) as job:
            _await_backlog(installation, backlog, job)
            read_s = time.monotonic() - start_s
            # Timers look again behind the backlog.
            installation.await_batches(5, job)
            status = job.stop()
    expired = installation.rows(_EXPIRED)
    problems = (
        [f"{len(expired)} expirations of the living, such as {expired[0]}"] if expired else []
    )
    problems += [f"ended with status {status}"] if status else []
    [logged] = installation.rows(_COUNT)
    lost = backlog - logged["records"]
    figures = {"down_s": round(down_s), "read_s": round(read_s), "backlog": backlog}
    if overrides:  # a rate limit: without one nearly all come in one batch
        [pace] = installation.rows(_PACE)
        figures["events_per_s"] = round(pace["events_per_s"])
    return Result(name, 2, max(0, lost), max(0, -lost), problems, figures)


def _first_life(installation: Installation) -> list[MemberIdentity]:
    """Members join while the job runs; who they are."""
    job = installation.settings.job
    with (
        JobProcess(["run", *installation.options], installation.folder) as process,
        RequestChannel(
            Connection(installation.bootstrap_servers),
            events_topic=job.events_topic,
            responses_topic=job.responses_topic,
            request_timeout_ms=RUN_S * 1_000,
        ) as channel,
    ):
        # Static members join with one request; others are sent an id first, and a sweep finds their group empty meanwhile.
        members = [
            GroupMember(
                channel,
                f"team-{team}",
                ["orders"],
                {"orders": 6},
                options=replace(_OPTIONS, group_instance_id=f"instance-{team}"),
            )
            for team in range(_TEAMS)
        ]
        # A JoinGroup that waits for Spark's start for too long would be asked again, under another id.
        channel.send(commit(MemberIdentity("first"), 0)).result()
        for member in members:
            member.join(RUN_S * 1_000)
        identities = [
            MemberIdentity(
                f"team-{team}", member.member_id, member.generation_id, f"instance-{team}"
            )
            for team, member in enumerate(members)
        ]
        assert process.stop() == 0, process.log
    return identities


class Pulse:
    """Heartbeats and commits of the living while the block runs, whether the job listens or not."""

    def __init__(self, installation: Installation, members: list[MemberIdentity]) -> None:
        self._installation = installation
        self._members = members
        self._over = Event()
        self._thread = Thread(target=self._beat)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        topic = self._installation.settings.job.events_topic
        servers = self._installation.bootstrap_servers
        with closing(KafkaProducer(bootstrap_servers=servers)) as producer:
            number = 0
            while not self._over.wait(_PULSE_S):
                number += 1
                for request in self._requests(number):
                    value = as_json(request, f"p-{number}")
                    producer.send(topic, key=request.group_id.encode(), value=value)

    def _requests(self, number: int) -> Iterator[Request]:
        for member in self._members:
            yield classic.heartbeat(member)
        for steady in range(_STEADY):
            yield commit(MemberIdentity(f"steady-{steady}"), number)


def _write_backlog(installation: Installation, count: int) -> None:
    topic = installation.settings.job.events_topic
    with ExitStack() as resources:
        producer = KafkaProducer(
            bootstrap_servers=installation.bootstrap_servers, linger_ms=50, batch_size=1 << 18
        )
        resources.enter_context(closing(producer))
        for number in range(count):
            group = f"backlog-{number % _BACKLOG_GROUPS}"
            value = as_json(commit(MemberIdentity(group), number), None)
            producer.send(topic, key=group.encode(), value=value)


def _await_backlog(installation: Installation, backlog: int, job: JobProcess) -> None:
    job.until(
        lambda: installation.rows(_COUNT)[0]["records"] >= backlog,
        seconds=_READ_S,
        awaited=f"{backlog} records in the log",
        poll_s=2,
    )
