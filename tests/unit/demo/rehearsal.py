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
from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.cluster.topics import VisibleTopics
from group_coordinator.core.model.requests import Topic
from group_coordinator.demo.coordinator.applications import PARTITION_COUNTS
from group_coordinator.demo.coordinator.measures import MeasuredChannel
from group_coordinator.demo.coordinator.members import ShopTopics
from group_coordinator.demo.coordinator.show import CoordinatorShow, settings_of
from group_coordinator.demo.stage import DemoFolder
from group_coordinator.demo.story import COORDINATOR, Board, DemoOptions, Story
from group_coordinator.driver.tasks.topic_metadata import TopicMetadataTask
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from group_coordinator.runtime.outputs import (
    EventRow,
    LogRow,
    Output,
    ResponseRow,
    TopicSubscriptionLine,
)
from group_coordinator.runtime.update_group import UpdateContext
from tests.support.files import FilesInMemory
from tests.support.group_history import log_row
from tests.support.group_updates import updated

START_MS = 1_767_225_600_000
BATCH_S = 0.7
TOPIC_IDS = {name: f"{name:A<21}A" for name in PARTITION_COUNTS}


class Coordinator:
    """Answers at the end of each batch, as the job does."""

    cluster_id = "demo"

    def __init__(self, overrides: list[str]) -> None:
        self.config = settings.load(overrides=overrides).coordinator
        self._context = UpdateContext(
            self.config, "group-events", 1_000, timers_suspended=False, asks_for_topics=True
        )
        self._subscriptions = GroupSubscriptions(FilesInMemory())
        self._agent = TopicMetadataTask(self._subscriptions, _look_at_topics, self._tell)
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
        self._subscriptions.note(needs)
        self._agent.look()

    def _tell(self, events: Sequence[tuple[str, bytes]]) -> None:
        for group_id, value in events:
            self._waiting[group_id].append(EventRow(self.now_ms, 0, 0, None, value))

    def _take(self, output: Output) -> None:
        if isinstance(output, TopicSubscriptionLine):
            self._needs.append(encode(output).decode())
        elif isinstance(output, ResponseRow):
            answer = json.loads(output.value)
            self._replies[answer["correlationId"]].set_result(answer["body"])
        else:
            assert isinstance(output, LogRow), output
            self.rows.append(log_row(output, self.cluster_id, self._batch_id))


def _look_at_topics(names: Collection[str] | None) -> VisibleTopics:
    return VisibleTopics(
        {
            name: Topic(name, TOPIC_IDS[name], count)
            for name, count in PARTITION_COUNTS.items()
            if names is None or name in names
        }
    )


class CommandLine:
    """Sends the requests of the administrator's commands."""

    is_idle = True

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self.commands: list[str] = []

    def run(self, *arguments: str) -> None:
        self.commands.append(" ".join(arguments))
        if arguments[1] == "--delete":
            self._coordinator.send(descriptions.delete_group(arguments[3]))
        elif arguments[1] == "--delete-offsets":
            partitions = [TopicPartition(arguments[5], number) for number in range(4)]
            self._coordinator.send(offset_messages.delete_offsets(arguments[3], partitions))


class StageOnPaper:
    """The parts of a stage without processes."""

    folder = DemoFolder(Path("nowhere"))

    def __init__(self, board: Board, commands: CommandLine) -> None:
        self.board = board
        self.commands = commands
        self.tasks: list[Callable[[], None]] = []

    def administrator(self, _: object) -> CommandLine:
        return self.commands

    def batch_s(self) -> float:
        return BATCH_S


class Rehearsal:
    """A whole show; `run` moves the clock."""

    def __init__(self, group_count: int, member_count: int, duration_s: int) -> None:
        options = DemoOptions(COORDINATOR, duration_s, keep=False)
        values = settings_of(options, "nobody", "")
        self.coordinator = Coordinator([f"{key}={value}" for key, value in values.items()])
        self.now_s = 0.0
        self.board = Board(160, lambda: self.now_s)
        self.show = CoordinatorShow(options, group_count, member_count)
        self.commands = CommandLine(self.coordinator)
        self.stage: Any = StageOnPaper(self.board, self.commands)
        # Three records a second in every partition.
        topics = ShopTopics(PARTITION_COUNTS, TOPIC_IDS, lambda _: int(self.now_s * 3))
        channel = MeasuredChannel(self.coordinator, lambda: self.now_s)
        self.show.prepare(self.stage, channel, topics)
        self._duration_s = duration_s
        self._next_batch_s = 0.0

    def run(self) -> None:
        while not self.show.have_arrived(self.now_s):
            self._step()
        story, begun_s = Story(self.show.scenes(), self.board), self.now_s
        while self.now_s - begun_s < self._duration_s:
            story.tick(self.now_s - begun_s)
            self._step()
        assert story.is_over

    def _step(self) -> None:
        for task in self.stage.tasks:
            task()
        if self.now_s >= self._next_batch_s:
            self._next_batch_s += BATCH_S
            self.coordinator.run_batch()
        self.now_s += 0.1
        self.coordinator.now_ms = START_MS + round(self.now_s * 1000)
