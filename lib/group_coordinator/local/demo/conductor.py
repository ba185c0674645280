"""Starts everything in order, lets it play, and ends everything again, whatever happened."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack

from kafka import KafkaAdminClient

from group_coordinator import settings
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.connection import Connection
from group_coordinator.clients.topics import create_topics
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.demo import cast
from group_coordinator.local.demo.board import Board
from group_coordinator.local.demo.commands import Administrator
from group_coordinator.local.demo.fleet import Arrivals, Fleet, Shifts
from group_coordinator.local.demo.folder import DemoFolder
from group_coordinator.local.demo.interruption import Interruption
from group_coordinator.local.demo.job import Job
from group_coordinator.local.demo.measures import MeasuredChannel, Measures
from group_coordinator.local.demo.plan import Plan, settings_of
from group_coordinator.local.demo.play import Play
from group_coordinator.local.demo.processes import ChildProcess
from group_coordinator.local.demo.shop import Shop
from group_coordinator.local.demo.story import Story, scenes
from group_coordinator.local.demo.survey import Survey
from group_coordinator.local.demo.watch import TablesWatch
from group_coordinator.settings import Settings

_TICK_S = 0.1
_PRINCIPAL = "User:shop"


class Conductor:
    """One performance of the demo."""

    def __init__(
        self, plan: Plan, folder: DemoFolder, board: Board, interruption: Interruption
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._board = board
        self._interruption = interruption
        self.measures = Measures()

    def perform(self) -> None:
        """Return when the story is over and nothing runs any more; the tables stay."""
        with ExitStack() as resources:
            try:
                self._perform(resources)
            except Exception:
                # A Ctrl-C goes to every process of the terminal: what failed of it is not worth telling.
                self._interruption.check()
                raise
            finally:
                self._board.show(is_ending=True)

    def _perform(self, resources: ExitStack) -> None:
        self._run("jars", [sys.executable, "-m", "group_coordinator.local.jars"])
        bootstrap_servers = self._plan.bootstrap_servers or self._start_broker(resources)
        connection = Connection(bootstrap_servers)
        self._folder.write_settings(settings_of(self._plan, self._folder, bootstrap_servers))
        self._make_topics(resources, connection)
        self._board.say(
            "The job starts: Spark Structured Streaming, with its Delta tables. That takes a while."
        )
        job = Job(self._folder)
        resources.callback(job.end)
        shop = self._open_shop(resources, connection)
        channel = self._open_channel(resources, connection)
        job.await_first_answer(channel, self._interruption.pause)
        play = self._stage(resources, channel, shop)
        resources.callback(job.ask_to_end)
        self._play(play, job, shop)

    def _start_broker(self, resources: ExitStack) -> str:
        self._board.say("A real Kafka broker starts on this machine.")
        broker = EmbeddedBroker(self._folder.broker)
        broker.start()
        resources.callback(broker.stop)
        self._interruption.check()
        return broker.bootstrap_servers

    def _make_topics(self, resources: ExitStack, connection: Connection) -> None:
        """A cluster that is not ours shall be as it was in the end."""
        if self._plan.bootstrap_servers is not None and not self._plan.keep:
            resources.callback(_delete_topics, connection, self._plan.topics)
        create_topics(connection, self._settings.job)

    def _run(self, name: str, command: list[str]) -> None:
        process = ChildProcess(f"Step '{name}'", command, self._folder.output(name))
        try:
            process.await_success(self._interruption.pause)
        finally:
            process.end()

    @property
    def _settings(self) -> Settings:
        return settings.load(self._folder.settings)

    def _open_shop(self, resources: ExitStack, connection: Connection) -> Shop:
        counts = {self._plan.topic(name): count for name, count in cast.PARTITION_COUNTS.items()}
        shop = Shop(connection, counts)
        resources.callback(shop.close)
        shop.open()
        return shop

    def _open_channel(self, resources: ExitStack, connection: Connection) -> RequestChannel:
        job = self._settings.job
        channel = RequestChannel(
            connection,
            events_topic=job.events_topic,
            responses_topic=job.responses_topic,
            request_timeout_ms=job.request_timeout_ms,
            principal=_PRINCIPAL,
        )
        return resources.enter_context(channel)

    def _stage(self, resources: ExitStack, channel: RequestChannel, shop: Shop) -> Play:
        plan, board = self._plan, self._board
        measured = MeasuredChannel(channel, self.measures)
        administrator = Administrator(self._folder, board)
        resources.callback(administrator.close)
        watch = TablesWatch(str(self._folder.tables), board)
        resources.callback(watch.close)
        watch.start()
        fleet = Fleet(measured, shop.partition_counts, shop, board.tell, plan.topic_prefix)
        extras = cast.extras(plan.group_count, plan.member_count)
        everybody = [*cast.LEADING_ROLES, *extras, *cast.SIMPLE_COMMITTERS]
        return Play(
            fleet,
            Arrivals(fleet, everybody),
            Shifts(fleet, extras),
            Story(scenes(fleet, administrator, plan), board),
            administrator,
            Survey(measured),
            self.measures,
            board,
            plan.remaining_s,
        )

    def _play(self, play: Play, job: Job, shop: Shop) -> None:
        while (play.story_s(now_s := time.monotonic()) or 0.0) < self._plan.duration_s:
            play.tick(now_s)
            self._board.show(batch_s=job.batch_s())
            job.check_alive()
            shop.check()
            self._interruption.pause(_TICK_S)


def _delete_topics(connection: Connection, topics: list[str]) -> None:
    admin = KafkaAdminClient(**connection.client_options())
    try:
        admin.delete_topics(topics, raise_errors=False)
    finally:
        admin.close()
