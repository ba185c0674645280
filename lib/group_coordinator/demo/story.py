"""The story of a show: its times, its scenes, the board with its events, and the shop. Imports no client and no Spark."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Message, Producer
from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import NewTopic
from msgspec import json

from group_coordinator.background import Background
from group_coordinator.clients.cluster.connection import Connection

_KEPT = 60
"""More events than fit on a screen."""


class ShowTimes(NamedTuple):
    """Usual times of a show, in seconds."""

    start_s: int
    """From the first process to the first scene."""
    story_s: int
    end_s: int
    """From the last scene to the closing page."""
    expiry_s: int
    """Length of the shortest story in which offsets expire: their retention of a minute does not depend on the story."""


COORDINATOR = ShowTimes(start_s=70, story_s=85, end_s=12, expiry_s=75)
MIRROR = ShowTimes(start_s=8, story_s=105, end_s=10, expiry_s=72)
GATEWAY = ShowTimes(start_s=45, story_s=90, end_s=12, expiry_s=80)


class Scene(NamedTuple):
    """An action at a time of the story, with its sentence for a new user."""

    at_s: float
    sentence: str
    act: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Length and place of a demo, and if all files stay. On a cluster of the user, names begin with `prefix`."""

    times: ShowTimes
    duration_s: int
    keep: bool
    bootstrap_servers: str | None = None
    prefix: str = ""

    @property
    def remaining_s(self) -> float:
        return self.duration_s + self.times.end_s

    def named(self, name: str) -> str:
        return self.prefix + name

    def scaled(self, scenes: Iterable[Scene], *expiry: Scene) -> list[Scene]:
        """Return the scenes of a shorter story; the expiration keeps its time, in a story that is long enough for it."""
        share = min(1.0, self.duration_s / self.times.story_s)
        scaled = [scene._replace(at_s=scene.at_s * share) for scene in scenes]
        return [*scaled, *expiry] if self.duration_s >= self.times.expiry_s else scaled


class StoryEvent(NamedTuple):
    """An event of the story; `detail` has its lines, such as a command's output."""

    at_s: float
    sentence: str
    detail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Frame:
    elapsed_s: float = 0.0
    expected_s: float = 0.0
    now: str = ""
    """The present event, in a sentence."""
    is_ending: bool = False
    story: tuple[StoryEvent, ...] = ()


class Board:
    """The latest frame; any thread may change it."""

    def __init__(self, expected_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_s = clock()
        self._lock = Lock()
        self._frame = Frame(expected_s=expected_s)
        self._listeners: list[Callable[[StoryEvent], None]] = []

    @property
    def elapsed_s(self) -> float:
        return self._clock() - self._started_s

    def frame(self) -> Frame:
        return replace(self._frame, elapsed_s=self.elapsed_s)

    def expect_end_in(self, seconds: float) -> None:
        self._change(expected_s=self.elapsed_s + seconds)

    def announce_end(self) -> None:
        self._change(is_ending=True)

    def say(self, sentence: str, detail: tuple[str, ...] = ()) -> None:
        """Show a sentence as the present event, and add it to the story."""
        self._change(now=sentence)
        self.add(sentence, detail)

    def add(self, sentence: str, detail: tuple[str, ...] = ()) -> None:
        happening = StoryEvent(self.elapsed_s, sentence, detail)
        with self._lock:
            self._frame = replace(self._frame, story=(*self._frame.story, happening)[-_KEPT:])
        for listener in self._listeners:
            listener(happening)

    def listen(self, listener: Callable[[StoryEvent], None]) -> None:
        self._listeners.append(listener)

    def _change(self, **fields: Any) -> None:
        with self._lock:
            self._frame = replace(self._frame, **fields)


class Story:
    def __init__(self, scenes: Iterable[Scene], board: Board) -> None:
        self._ahead = sorted(scenes, key=lambda scene: scene.at_s)
        self._board = board

    @property
    def is_over(self) -> bool:
        return not self._ahead

    def tick(self, story_s: float) -> None:
        """Play the next scene if it is due: a late scene waits for the commands of the scene before."""
        if self._ahead and self._ahead[0].at_s <= story_s:
            scene = self._ahead.pop(0)
            self._board.say(scene.sentence)
            if scene.act is not None:
                scene.act()


_ROUND_S = 0.25
_RECORDS_A_ROUND = 2
_log = logging.getLogger(__name__)


class Shop:
    """Writes some records a second into every partition while it is open; `others` are topics of one partition for others."""

    def __init__(
        self, connection: Connection, partition_counts: Mapping[str, int], *others: str
    ) -> None:
        self._connection = connection
        self.topics = {**partition_counts, **dict.fromkeys(others, 1)}
        self._written = dict(partition_counts)
        self._ends: dict[TopicPartition, int] = {}
        self._thread = Background(self._run, "shop")

    def open(self) -> None:
        """Create the topics, then write until `close`."""
        with self._connection.opened(KafkaAdminClient) as admin:
            admin.create_topics(
                [
                    NewTopic(topic, num_partitions=count, replication_factor=-1)
                    for topic, count in self.topics.items()
                ],
                wait_for_metadata=True,
            )
        self._thread.start()

    def end_of(self, partition: TopicPartition) -> int:
        """Return the offset after the last record that the broker has."""
        return self._ends.get(partition, 0)

    def give_up(self, topic: str) -> None:
        self._written = {name: count for name, count in self._written.items() if name != topic}

    def close(self) -> None:
        self._thread.end()

    def _run(self, ended: Event) -> None:
        producer = Producer({"bootstrap.servers": self._connection.bootstrap_servers}, logger=_log)
        number = 0
        while not ended.wait(_ROUND_S):
            for topic, count in self._written.items():
                for _ in range(_RECORDS_A_ROUND * count):
                    number += 1
                    value = json.encode({"number": number})
                    producer.produce(topic, value, partition=number % count, on_delivery=self._note)
            producer.poll(0)
        producer.flush(1)

    def _note(self, error: KafkaError | None, message: Message) -> None:
        offset = message.offset()
        if error is None and offset is not None:
            self._ends[TopicPartition(message.topic(), message.partition())] = offset + 1
