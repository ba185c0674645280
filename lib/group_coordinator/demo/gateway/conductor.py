"""Conductor of the gateway's demo: starts all parts in order, runs the story, and ends all processes."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from group_coordinator import settings
from group_coordinator.clients.channel.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.demo.board import Board
from group_coordinator.demo.commands import Administrator, Tool
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.gateway.cast import EVERYBODY
from group_coordinator.demo.gateway.console import ConsoleConsumer
from group_coordinator.demo.gateway.counted import GatewayPages
from group_coordinator.demo.gateway.figures import GatewayFigures
from group_coordinator.demo.gateway.plan import GatewayPlan, GatewayPorts, settings_of
from group_coordinator.demo.gateway.story import Storyteller
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.job import Job
from group_coordinator.demo.job_process import WITH_GATEWAY
from group_coordinator.demo.looking import looking
from group_coordinator.demo.mirror.fleet import Fleet
from group_coordinator.demo.mirror.shop import Shop
from group_coordinator.demo.scenes import Scene, Story
from group_coordinator.demo.stage import fetch_jars, start_broker
from group_coordinator.demo.watch import TablesWatch
from group_coordinator.local.kafka_tools import CONSUMER_GROUPS, tool_command

_TICK_S, _LOOK_S = 0.1, 1.0
_PATIENCE_S = 30.0
"""Time for which the end waits for compaction."""
_GRACE_S, _IMPATIENT_GRACE_S = 20.0, 3.0
"""Time for the job to finish its batch: at the end, and while the user waits for the prompt."""
_NOBODY: frozenset[str] = frozenset()


@dataclass
class _Cast:
    job: Job
    gateway: GatewayPages
    fleet: Fleet
    console: ConsoleConsumer
    administrators: tuple[Administrator, Administrator]
    tables: TablesWatch

    def check(self) -> None:
        """Raise the error of a part that gave up, if any."""
        self.job.check_alive()
        self.fleet.check()
        self.console.check()

    @property
    def are_commands_done(self) -> bool:
        """True if the output of every command is on the board."""
        return all(each.is_idle for each in self.administrators)

    def tick(self) -> None:
        """Let commands begin and end."""
        for each in self.administrators:
            each.tick()


class Conductor:
    """A performance of the demo."""

    def __init__(
        self,
        plan: GatewayPlan,
        folder: DemoFolder,
        board: Board[GatewayFigures],
        interruption: Interruption,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._board = board
        self._interruption = interruption
        self._ports = GatewayPorts.free()
        self._looked_s = 0.0

    def perform(self) -> None:
        """Return when the story is in the tables and all processes have ended.

        Raises:
            CommandFailedError: the job, its gateway or the console consumer ended.
            MemberFailedError: a consumer gave up.
            Interrupted: the user ended it.
        """
        with ExitStack() as resources, ExitStack() as ending:
            ending.callback(self._board.announce_end)
            # A Ctrl-C goes to every process of the terminal: failures that it causes are not reported.
            ending.callback(self._interruption.check)
            fetch_jars(self._folder, self._interruption)
            fetch_jars(self._folder, self._interruption, "group_coordinator.local.kafka_tools")
            broker = start_broker(resources, self._folder, self._board, self._interruption)
            job, gateway = self._start_job(resources, broker)
            acting = self._gather(resources, broker, job, gateway)
            self._play(acting, Story(self._scenes(acting), self._board))

    def _start_job(self, resources: ExitStack, broker: str) -> tuple[Job, GatewayPages]:
        """Return when the gateway accepts clients."""
        self._folder.write_settings(settings_of(self._folder, broker, self._ports))
        chosen = settings.load(self._folder.settings).job
        connection = Connection.of(chosen)
        create_topics(connection, chosen)
        self._board.say(
            "The job starts, with the gateway beside it: Spark Structured Streaming, as `run --with-gateway` does. That "
            "takes a while."
        )
        job = Job(self._folder, WITH_GATEWAY)
        resources.callback(lambda: job.end(self._grace_s))
        with RequestChannel(
            connection,
            events_topic=chosen.events_topic,
            responses_topic=chosen.responses_topic,
            request_timeout_ms=chosen.request_timeout_ms,
        ) as channel:
            job.await_first_answer(channel, self._interruption.pause)
        gateway = GatewayPages(self._ports.health)
        while not gateway.is_ready():
            job.check_alive()
            self._interruption.pause(_LOOK_S)
        return job, gateway

    def _gather(self, resources: ExitStack, broker: str, job: Job, gateway: GatewayPages) -> _Cast:
        """Return when all clients are at work."""
        servers = self._ports.listen
        shop = Shop(Connection(servers), "")
        resources.callback(shop.close)
        shop.open()
        fleet = Fleet(servers, "")
        resources.callback(fleet.close)
        console = ConsoleConsumer(self._folder, servers)
        resources.callback(console.close)
        administrators = (
            self._administrator(resources, servers),
            self._administrator(resources, broker),
        )
        tables = TablesWatch(str(self._folder.tables), self._board, _NOBODY)
        acting = _Cast(job, gateway, fleet, console, administrators, tables)
        self._enter(acting)
        resources.enter_context(looking(tables.look))
        return acting

    def _enter(self, acting: _Cast) -> None:
        for application in EVERYBODY:
            acting.fleet.join(application)
        self._board.say(
            f"{len(EVERYBODY) + 1} groups begin to read a shop's topics: librdkafka and kafka-python, both protocols, one in "
            f"transactions, and Kafka's console consumer. All they were told is bootstrap.servers={self._ports.listen}"
        )
        self._board.tell(f"$ {acting.console.typed}")
        since_s = time.monotonic()
        while not (acting.fleet.are_all_at_work and acting.console.is_at_work):
            self._step(acting)
        self._board.say(
            f"All {acting.fleet.member_count + 1} consumers read, {time.monotonic() - since_s:.0f} s after they were started: "
            "each answer about a group is one of the job's batches, records come from the broker at once."
        )

    def _administrator(self, resources: ExitStack, servers: str) -> Administrator:
        command = tool_command(CONSUMER_GROUPS, "--bootstrap-server", servers)
        tool = Tool(f"kafka-consumer-groups --bootstrap-server {servers}", tuple(command))
        administrator = Administrator(tool, self._folder, self._board)
        resources.callback(administrator.close)
        return administrator

    def _scenes(self, acting: _Cast) -> list[Scene]:
        through_gateway, at_broker = acting.administrators
        return Storyteller(self._plan, acting.fleet, through_gateway, at_broker).scenes()

    def _play(self, acting: _Cast, story: Story) -> None:
        begun_s = time.monotonic()
        self._board.expect_end_in(self._plan.remaining_s)
        while not self._is_over(time.monotonic() - begun_s, acting, story):
            if acting.are_commands_done:
                story.tick(time.monotonic() - begun_s)
            acting.tick()
            self._step(acting)

    def _step(self, acting: _Cast) -> None:
        acting.check()
        if time.monotonic() - self._looked_s > _LOOK_S:
            self._looked_s = time.monotonic()
            self._board.show(counted=acting.gateway.counted(), batch_s=acting.job.batch_s())
        self._interruption.pause(_TICK_S)

    def _is_over(self, story_s: float, acting: _Cast, story: Story) -> bool:
        # On a slow machine compaction may be some seconds late.
        if story_s < self._plan.duration_s or not (story.is_over and acting.are_commands_done):
            return False
        late_s = story_s - self._plan.duration_s
        return acting.tables.are_fresh(datetime.now(UTC)) or late_s > _PATIENCE_S

    @property
    def _grace_s(self) -> float:
        return _IMPATIENT_GRACE_S if self._interruption.is_requested else _GRACE_S
