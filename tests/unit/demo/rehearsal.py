"""The demo without Kafka, Spark and waiting: a coordinator in this process, and a clock moved by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from kafka import TopicPartition
from msgspec.json import encode

from group_coordinator import settings
from group_coordinator.clients import offset_messages
from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.channel.channel import Body, Request
from group_coordinator.clients.cluster.topics import Look
from group_coordinator.core.model.topic import Topic
from group_coordinator.demo import cast
from group_coordinator.demo.board import Board
from group_coordinator.demo.consumers import ShopTopics
from group_coordinator.demo.coordinator_figures import CoordinatorFigures
from group_coordinator.demo.fleet import Arrivals, Fleet, Shifts
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.measures import MeasuredChannel, Measures
from group_coordinator.demo.plan import Plan, settings_of
from group_coordinator.demo.play import Play
from group_coordinator.demo.scenes import Story
from group_coordinator.demo.story import scenes
from group_coordinator.demo.survey import Survey
from group_coordinator.driver.agents.topic_agent import TopicAgent
from group_coordinator.driver.agents.topic_subscriptions import TopicInterests
from group_coordinator.runtime.outputs import LogRow, Output, Response, TopicNeedLine
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.support.files import FilesInMemory
from tests.support.group_history import log_row
from tests.support.group_updates import updated

START_MS = 1_767_225_600_000
BATCH_S = 0.7
TOPIC_IDS = {name: f"{name:A<21}A" for name in cast.PARTITION_COUNTS}


class Coordinator:
    """Answers at the end of each batch, as the job does."""

    cluster_id = "demo"

    def __init__(self, overrides: list[str]) -> None:
        self.config = settings.load(overrides=overrides).coordinator
        self._context = UpdateContext(
            self.config, "group-events", 1_000, timers_hold=False, asks_for_topics=True
        )
        self._interests = TopicInterests(FilesInMemory())
        self._agent = TopicAgent(self._interests, _look_at_topics, self._tell)
        self._needs: list[str] = []
        self._waiting: defaultdict[str, list[EventRow]] = defaultdict(list)
        self._replies: dict[str, Future[Body]] = {}
        self._states: dict[str, bytes | None] = {}
        self._deadlines_ms: dict[str, int | None] = {}
        self._batch_id = 0
        self.now_ms = START_MS
        self.rows: list[dict[str, Any]] = []

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:  # noqa: ARG002
        number = len(self._replies)
        event = {
            "api": request.api,
            "version": request.version,
            "correlationId": str(number),
            "clientId": request.client_id,
            "clientHost": "/127.0.0.1",
            "principal": "User:shop",
            "body": request.body,
        }
        value = json.dumps(event).encode()
        self._waiting[request.group_id].append(EventRow(self.now_ms, 0, number, None, value))
        self._replies[str(number)] = Future()
        return self._replies[str(number)]

    def run_batch(self) -> None:
        due_ms = self.now_ms - self._context.timer_slack_ms
        timed_out = {
            group_id
            for group_id, deadline_ms in self._deadlines_ms.items()
            if deadline_ms is not None and deadline_ms <= due_ms
        }
        waiting, self._waiting = self._waiting, defaultdict(list)
        for group_id in sorted(timed_out | waiting.keys()):
            state = self._states.get(group_id)
            update = updated(group_id, state, waiting[group_id], self.now_ms, self._context)
            self._states[group_id] = update.state
            self._deadlines_ms[group_id] = update.deadline_ms
            for piece in update.pieces:
                for output in piece.outputs:
                    self._take(output)
        self._batch_id += 1
        needs, self._needs = self._needs, []
        self._interests.note(needs)
        self._agent.look()

    def _tell(self, events: Sequence[tuple[str, bytes]]) -> None:
        for group_id, value in events:
            self._waiting[group_id].append(EventRow(self.now_ms, 0, 0, None, value))

    def _take(self, output: Output) -> None:
        if isinstance(output, TopicNeedLine):
            self._needs.append(encode(output).decode())
        elif isinstance(output, Response):
            answer = json.loads(output.value)
            self._replies[answer["correlationId"]].set_result(answer["body"])
        else:
            assert isinstance(output, LogRow), output
            self.rows.append(log_row(output, self.cluster_id, self._batch_id))


def _look_at_topics(names: Collection[str] | None) -> Look:
    return Look(
        {
            name: Topic(name, TOPIC_IDS[name], count)
            for name, count in cast.PARTITION_COUNTS.items()
            if names is None or name in names
        }
    )


class Shelf:
    """Three records a second in every partition."""

    now_s = 0.0

    def read_up_to(self, _: TopicPartition) -> int:
        return int(self.now_s * 3)


class CommandLine:
    """Sends what the administrator's commands would send."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self.asked: list[str] = []

    def run(self, *arguments: str) -> None:
        self.asked.append(" ".join(arguments))
        if arguments[1] == "--delete":
            self._coordinator.send(descriptions.delete_group(arguments[3]))
        elif arguments[1] == "--delete-offsets":
            partitions = [TopicPartition(arguments[5], number) for number in range(4)]
            self._coordinator.send(offset_messages.delete_offsets(arguments[3], partitions))

    def tick(self) -> None:
        """Everything was sent at once."""


class Rehearsal:
    """A whole play; `run` moves the clock."""

    def __init__(self, plan: Plan) -> None:
        values = settings_of(plan, DemoFolder(Path("nowhere")), "nobody", "")
        self.coordinator = Coordinator([f"{key}={value}" for key, value in values.items()])
        self.now_s = 0.0
        clock: Callable[[], float] = lambda: self.now_s  # noqa: E731
        self.board = Board(CoordinatorFigures(), plan.expected_s, clock)
        self.shelf = Shelf()
        self.commands = CommandLine(self.coordinator)
        self.measures = Measures(clock)
        self.refusals: list[str] = []
        topics = ShopTopics(cast.PARTITION_COUNTS, TOPIC_IDS)
        channel = MeasuredChannel(self.coordinator, self.measures)
        self.fleet = Fleet(channel, topics, self.shelf, self.refusals.append)
        extras = cast.extras(plan.group_count, plan.member_count)
        everybody = [*cast.LEADING_ROLES, *extras, *cast.SIMPLE_COMMITTERS]
        self.play = Play(
            self.fleet,
            Arrivals(self.fleet, everybody),
            Shifts(self.fleet, extras),
            Story(scenes(self.fleet, self.commands, plan), self.board),
            self.commands,
            Survey(channel),
            self.measures,
            self.board,
            plan.remaining_s,
        )
        self._plan = plan

    def run(self) -> None:
        next_batch_s = 0.0
        while (self.play.story_s(self.now_s) or 0.0) < self._plan.duration_s:
            assert self.now_s < 600
            self.play.tick(self.now_s)
            if self.now_s >= next_batch_s:
                next_batch_s += BATCH_S
                self.coordinator.run_batch()
            self.now_s += 0.1
            self.shelf.now_s = self.now_s
            self.coordinator.now_ms = START_MS + round(self.now_s * 1000)
