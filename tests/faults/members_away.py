"""Kafka goes away for longer than a session lasts: members that live are members still when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

from kafka import TopicPartition

from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ChannelError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions, MemberState
from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.installation import Installation, installed
from tests.faults.result import Result
from tests.faults.scene import Scene
from tests.support.job_process import JobProcess

SESSION_S = 15
"""More than the member's client takes to find the broker again when it is back."""

_OPTIONS = MemberOptions(
    session_timeout_ms=SESSION_S * 1000, rebalance_timeout_ms=60_000, heartbeat_interval_ms=2_000
)
_PATIENCE_S = 300
_LAPSED = "SELECT group_id, member_id FROM coordinator_log WHERE reason = 'session-timeout'"
ORDERS = TopicPartition("orders", 0)


class LivingMember:
    """Polls in a thread of its own, whatever Kafka says, while the block runs."""

    def __init__(self, channel: RequestChannel) -> None:
        self.member = GroupMember(channel, "shop", ["orders"], {"orders": 2}, options=_OPTIONS)
        self._over = Event()
        self._thread = Thread(target=self._live)

    def __enter__(self) -> GroupMember:
        self._thread.start()
        return self.member

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _live(self) -> None:
        while not self._over.wait(0.1):
            try:
                self.member.poll()
            except ChannelError:
                continue


Started = tuple[Installation, Callable[[], JobProcess]]
"""Where the job is, and what starts it."""


def members_outlive_an_outage(scene: Scene, away_s: float) -> Result:
    """With the job on this machine."""
    folder = scene.folder / "members-away"

    def start(bootstrap_servers: str) -> Started:
        installation = installed(Installation(bootstrap_servers, folder))
        return installation, lambda: JobProcess(["run", *installation.options], folder)

    return outage_outlived("members-away", folder, away_s, start)


def outage_outlived(
    name: str, folder: Path, away_s: float, start: Callable[[str], Started]
) -> Result:
    """The member's generation goes on, its commit is taken, and once it falls silent its session lapses.

    `start` gets the address of the broker that will be away; its files are in the folder.
    """
    with ExitStack() as resources:
        with EmbeddedBroker(folder / "broker") as broker:
            installation, start_job = start(broker.bootstrap_servers)
            job = resources.enter_context(start_job())
            living = LivingMember(resources.enter_context(_channel(installation)))
            member = resources.enter_context(living)
            job.until(
                lambda: member.state is MemberState.STABLE,
                seconds=_PATIENCE_S,
                awaited="a member at work",
            )
        time.sleep(away_s)
        with EmbeddedBroker(folder / "broker", broker.port):
            problems = _after_the_return(installation, job, member)
            resources.close()
    return Result(name, 1, 0, 0, problems, {"away_s": away_s, "session_s": SESSION_S})


def _after_the_return(
    installation: Installation, job: JobProcess, member: GroupMember
) -> list[str]:
    problems = []
    try:
        member.commit({ORDERS: 7})
        time.sleep(SESSION_S + 1)
        member.commit({ORDERS: 8})
    except Exception as failure:  # noqa: BLE001 - it is what the test is about
        problems.append(f"a living member was refused: {failure!r}")
    if member.rebalances != 1:
        problems.append(f"{member.rebalances} rebalances of one member")
    lapsed = installation.rows(_LAPSED)
    if lapsed:
        problems.append(f"sessions lapsed: {lapsed}")
    if job.stop() != 0:
        problems.append(f"the job failed: {job.log[-300:]}")
    if "sessions start again" not in job.log:
        problems.append("the job has not noticed the outage")
    return problems


def _channel(installation: Installation) -> RequestChannel:
    job = installation.settings.job
    return RequestChannel(
        # By default a client waits for up to 30 s before it tries to connect again.
        Connection(installation.bootstrap_servers, {"reconnect_backoff_max_ms": 1_000}),
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        request_timeout_ms=_PATIENCE_S * 1000,
    )
