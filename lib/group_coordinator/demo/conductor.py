"""Conductor of the coordinator's demo: starts all parts in order, runs the story, and ends all processes."""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import NamedTuple

from kafka import KafkaAdminClient

from group_coordinator import settings
from group_coordinator.clients.channel.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.demo import cast
from group_coordinator.demo.board import Board
from group_coordinator.demo.commands import Administrator, our_tool
from group_coordinator.demo.consumers import ShopTopics
from group_coordinator.demo.coordinator_figures import CoordinatorFigures
from group_coordinator.demo.fleet import Arrivals, Fleet, Shifts
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.job import Job
from group_coordinator.demo.looking import looking
from group_coordinator.demo.measures import MeasuredChannel, Measures
from group_coordinator.demo.meters import MetersPage
from group_coordinator.demo.plan import Plan, settings_of
from group_coordinator.demo.play import Play
from group_coordinator.demo.positions import start_positions
from group_coordinator.demo.scenes import Story
from group_coordinator.demo.shop import Shop
from group_coordinator.demo.stage import fetch_jars, start_broker
from group_coordinator.demo.story import scenes
from group_coordinator.demo.survey import Survey
from group_coordinator.demo.watch import TablesWatch
from group_coordinator.local.ports import LOOPBACK, free_row
from group_coordinator.settings import Settings

_TICK_S = 0.1
_PATIENCE_S = 30.0
"""Time for which the end waits for compaction."""
_GRACE_S, _IMPATIENT_GRACE_S = 20.0, 3.0
"""Time for the job to finish its batch: at the end, and while the user waits for the prompt."""
_PRINCIPAL = "User:shop"


class _Premises(NamedTuple):
    job: Job
    shop: Shop
    channel: RequestChannel

    def check(self) -> None:
        """Raise the error of a part that has ended, if any."""
        self.job.check_alive()
        self.shop.check()


class Conductor:
    """A performance of the demo."""

    def __init__(
        self,
        plan: Plan,
        folder: DemoFolder,
        board: Board[CoordinatorFigures],
        interruption: Interruption,
    ) -> None:
        """Choose the applications.

        Raises:
            CastError: there are too few members, or too few groups.
        """
        self._plan = plan
        self._folder = folder
        self._board = board
        self._interruption = interruption
        self._extras = cast.extras(plan.group_count, plan.member_count)
        self.measures = Measures()
        self.meters = MetersPage(f"{LOOPBACK}:{free_row(1)}", folder.meters)

    def perform(self) -> None:
        """Return when the story is over and all processes have ended; the tables stay."""
        with ExitStack() as resources, ExitStack() as ending:
            ending.callback(self._board.announce_end)
            # A Ctrl-C goes to every process of the terminal: failures that it causes are not reported.
            ending.callback(self._interruption.check)
            self._perform(resources)

    def _perform(self, resources: ExitStack) -> None:
        premises = self._open_premises(resources)
        premises.job.await_first_answer(premises.channel, self._interruption.pause)
        positions = start_positions(self._folder, self._plan)
        resources.callback(lambda: positions.end(self._grace_s))
        play = self._set_stage(resources, premises)
        tables = TablesWatch(str(self._folder.tables), self._board)
        resources.enter_context(looking(tables.look))
        resources.callback(premises.job.ask_to_end)
        while not self._is_over(play.story_s(time.monotonic()), tables):
            play.tick(time.monotonic())
            premises.check()
            positions.check_alive()
            self._board.show(batch_s=premises.job.batch_s())
            self._interruption.pause(_TICK_S)
        self.meters.scrape()

    def _open_premises(self, resources: ExitStack) -> _Premises:
        fetch_jars(self._folder, self._interruption)
        bootstrap_servers = self._plan.bootstrap_servers or start_broker(
            resources, self._folder, self._board, self._interruption
        )
        self._folder.write_settings(
            settings_of(self._plan, self._folder, bootstrap_servers, self.meters.address)
        )
        connection = Connection.of(self._settings.job)
        self._make_topics(resources, connection)
        self._board.say(
            "The job starts: Spark Structured Streaming, with its Delta tables. That takes a while. Prometheus may read "
            f"{self.meters.url}"
        )
        job = Job(self._folder)
        resources.callback(lambda: job.end(self._grace_s))
        shop = self._open_shop(resources, connection)
        return _Premises(job, shop, self._open_channel(resources, connection))

    def _is_over(self, story_s: float | None, tables: TablesWatch) -> bool:
        # On a slow machine compaction may be some seconds late.
        if story_s is None or story_s < self._plan.duration_s:
            return False
        return tables.are_fresh(datetime.now(UTC)) or story_s > self._plan.duration_s + _PATIENCE_S

    @property
    def _grace_s(self) -> float:
        return _IMPATIENT_GRACE_S if self._interruption.is_requested else _GRACE_S

    def _make_topics(self, resources: ExitStack, connection: Connection) -> None:
        # A cluster of the user must be left unchanged.
        if self._plan.bootstrap_servers is not None and not self._plan.keep:
            resources.callback(_delete_topics, connection, self._plan.topics)
        create_topics(connection, self._settings.job)

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

    def _set_stage(self, resources: ExitStack, premises: _Premises) -> Play:
        plan, board, shop = self._plan, self._board, premises.shop
        channel = MeasuredChannel(premises.channel, self.measures)
        administrator = Administrator(our_tool(self._folder), self._folder, board)
        resources.callback(administrator.close)
        topics = ShopTopics(shop.partition_counts, shop.topic_ids())
        fleet = Fleet(channel, topics, shop, board.tell, plan.topic_prefix)
        everybody = [*cast.LEADING_ROLES, *self._extras, *cast.SIMPLE_COMMITTERS]
        return Play(
            fleet,
            Arrivals(fleet, everybody),
            Shifts(fleet, self._extras),
            Story(scenes(fleet, administrator, plan), board),
            administrator,
            Survey(channel),
            self.measures,
            board,
            plan.remaining_s,
        )


def _delete_topics(connection: Connection, topics: list[str]) -> None:
    with connection.opened(KafkaAdminClient) as admin:
        admin.delete_topics(topics, raise_errors=False)
