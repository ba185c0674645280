"""Conductor of the mirror's demo: starts all parts in order, runs the story, and ends all processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from kafka import KafkaAdminClient

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.demo.board import Board
from group_coordinator.demo.commands import Administrator, Tool
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.looking import looking
from group_coordinator.demo.mirror.cast import EVERYBODY
from group_coordinator.demo.mirror.figures import MirrorFigures
from group_coordinator.demo.mirror.fleet import Fleet
from group_coordinator.demo.mirror.mirror_process import MirrorProcess
from group_coordinator.demo.mirror.plan import BROKER_PROPERTIES, MirrorPlan, settings_of
from group_coordinator.demo.mirror.shop import Shop
from group_coordinator.demo.mirror.story import Storyteller
from group_coordinator.demo.mirror.watch import TablesWatch
from group_coordinator.demo.scenes import Story
from group_coordinator.demo.stage import fetch_jars, start_broker
from group_coordinator.local.child_process import CommandFailedError
from group_coordinator.local.java import python_module

_TICK_S = 0.1
# Time for which the end waits for the mirror: a user's cluster may have much to read.
_PATIENCE_S = 300.0
_GRACE_S, _IMPATIENT_GRACE_S = 20.0, 3.0
"""Time for the mirror to finish its batch: at the end, and while the user waits for the prompt."""


@dataclass
class _Performance:
    """The acting parts, and the times when the story began and ended."""

    fleet: Fleet
    administrator: Administrator
    mirror: MirrorProcess
    tables: TablesWatch
    story: Story
    begun_s: float = 0.0
    ended_at: datetime | None = None

    def check(self) -> None:
        """Raise the error of a part that gave up, if any."""
        self.mirror.check_alive()
        self.fleet.check()

    @property
    def story_s(self) -> float:
        """The time of the story."""
        return time.monotonic() - self.begun_s


class Conductor:
    """A performance of the demo."""

    def __init__(
        self,
        plan: MirrorPlan,
        folder: DemoFolder,
        board: Board[MirrorFigures],
        interruption: Interruption,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._board = board
        self._interruption = interruption

    def perform(self) -> None:
        """Return when the story is in the tables and all processes have ended.

        Raises:
            CommandFailedError: the mirror ended, or it did not keep up.
            MemberFailedError: a consumer gave up.
            Interrupted: the user ended it.
        """
        with ExitStack() as resources, ExitStack() as ending:
            ending.callback(self._board.announce_end)
            # A Ctrl-C goes to every process of the terminal: failures that it causes are not reported.
            ending.callback(self._interruption.check)
            self._play(self._set_stage(resources))

    def _set_stage(self, resources: ExitStack) -> _Performance:
        fetch_jars(self._folder, self._interruption)
        servers = self._plan.bootstrap_servers or start_broker(
            resources, self._folder, self._board, self._interruption, BROKER_PROPERTIES
        )
        self._folder.write_settings(settings_of(self._folder, servers))
        connection = Connection(servers)
        shop = self._open_shop(resources, connection)
        fleet = self._gather(resources, servers)
        administrator = Administrator(_kafka_tool(servers), self._folder, self._board)
        resources.callback(administrator.close)
        mirror = MirrorProcess(self._folder, servers, self._board.tell)
        resources.callback(lambda: mirror.end(self._grace_s))
        tables = TablesWatch(str(self._folder.tables), self._plan.prefix, self._board)
        resources.enter_context(looking(lambda: tables.look(datetime.now(UTC))))
        teller = Storyteller(self._plan, fleet, shop, administrator, mirror.start)
        return _Performance(
            fleet, administrator, mirror, tables, Story(teller.scenes(), self._board)
        )

    def _open_shop(self, resources: ExitStack, connection: Connection) -> Shop:
        shop = Shop(connection, self._plan.prefix)
        # A cluster of the user must be left unchanged.
        if self._plan.bootstrap_servers is not None and not self._plan.keep:
            groups = [self._plan.named(application.group_id) for application in EVERYBODY]
            resources.callback(_clean, connection, groups, shop.topics)
        resources.callback(shop.close)
        shop.open()
        return shop

    def _gather(self, resources: ExitStack, servers: str) -> Fleet:
        """Return when all members are at work."""
        fleet = Fleet(servers, self._plan.prefix)
        resources.callback(fleet.close)
        for application in EVERYBODY:
            fleet.join(application)
        self._board.say(
            f"{len(EVERYBODY)} groups with {fleet.member_count} consumers begin to read a shop's topics: librdkafka and "
            "kafka-python, both protocols, one in transactions. None of them knows that anybody looks."
        )
        while not fleet.are_all_at_work:
            fleet.check()
            self._interruption.pause(_TICK_S)
        return fleet

    def _play(self, performance: _Performance) -> None:
        performance.begun_s = time.monotonic()
        self._board.expect_end_in(self._plan.remaining_s)
        while not self._is_over(performance):
            if performance.administrator.is_idle:
                performance.story.tick(performance.story_s)
            performance.administrator.tick()
            performance.check()
            self._interruption.pause(_TICK_S)

    def _is_over(self, performance: _Performance) -> bool:
        """Return True if the story is over and in the tables."""
        overtime_s = performance.story_s - self._plan.duration_s
        if overtime_s < 0 or not performance.story.is_over or not performance.administrator.is_idle:
            return False
        if performance.ended_at is None:
            performance.ended_at = datetime.now(UTC)
            self._board.say("The story is over; its end is still on its way into the tables.")
        if overtime_s > _PATIENCE_S:
            raise CommandFailedError(
                f"The mirror did not reach the end of the story within {_PATIENCE_S:.0f} s; what it says is in "
                f"{self._folder.output('mirror')}, if the demo runs with --keep"
            )
        return performance.tables.have(performance.ended_at)

    @property
    def _grace_s(self) -> float:
        return _IMPATIENT_GRACE_S if self._interruption.is_requested else _GRACE_S


def _kafka_tool(servers: str) -> Tool:
    """Return the command line of kafka-python, which uses Kafka's own admin API."""
    command = tuple(python_module("kafka.admin", "-b", servers))
    return Tool(f"kafka-python admin -b {servers}", command)


def _clean(connection: Connection, groups: Sequence[str], topics: Sequence[str]) -> None:
    with connection.opened(KafkaAdminClient) as admin:
        admin.delete_groups(list(groups))
        admin.delete_topics(list(topics), raise_errors=False)
