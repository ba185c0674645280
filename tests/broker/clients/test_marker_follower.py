"""The follower between a real broker's transaction coordinator and a group that reads the events it writes.

The producer says AddOffsetsToTxn and EndTxn to the broker, as through a gateway, and its TxnOffsetCommit becomes an event.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from threading import Event, Thread
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.clients.cluster.marker_reader import MarkerReader
from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.driver.tasks.transaction_markers import AwaitedMarkers, MarkerFollower
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import load
from tests.broker.clients.topics import NewTopics
from tests.support.files import FilesInMemory
from tests.support.group_updates import lines_of, updated
from tests.support.transactional_producer import TransactionalProducer, markers_end
from tests.support.until import until

pytestmark = pytest.mark.kafka

SECONDS = 20.0
CONTEXT = UpdateContext(
    load().coordinator, "group-events", 1_000, timers_suspended=False, follows_markers=True
)
Json = dict[str, Any]


class FollowedGroup:
    """One group of the job, without the job: it takes its events from Kafka and says for whom it waits."""

    def __init__(self, address: str, events: str, group_id: str, awaited: AwaitedMarkers) -> None:
        self.id = group_id
        self.awaited = awaited
        self._state: bytes | None = None
        self._offset = 0
        self._consumer = KafkaConsumer(bootstrap_servers=address)
        numbers = self._consumer.partitions_for_topic(events)
        self._consumer.assign([TopicPartition(events, number) for number in numbers])
        self._consumer.seek_to_beginning()
        self._brokers = KafkaConsumer(bootstrap_servers=address)

    def commit(self, producer: TransactionalProducer, offset: int, since: int | None = None) -> int:
        """TxnOffsetCommit, as a gateway hands it over; its error."""
        topics = [
            {"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": offset}]}
        ]
        body = {
            "groupId": self.id,
            "producerId": producer.producer_id,
            "producerEpoch": producer.epoch,
            "markersEndOffset": self.markers_end() if since is None else since,
            "topics": topics,
        }
        event = {"api": "TxnOffsetCommit", "version": 3, "correlationId": "c", "body": body}
        [answer] = [line for tag, line in self._call([json.dumps(event).encode()]) if tag == "R"]
        error: int = answer["body"]["topics"][0]["partitions"][0]["errorCode"]
        return error

    def markers_end(self) -> int:
        return markers_end(self._brokers, self.id)

    def hear(self) -> None:
        """Take the events that are there."""
        polled = self._consumer.poll(timeout_ms=50).values()
        found = [each.value for records in polled for each in records]
        if found:
            self._call(found)

    @property
    def group(self) -> Group:
        return snapshots.load(self.id, self._state) if self._state else Group(self.id)

    def holds(self, offset: int | None) -> None:
        """Hear until nothing waits, and hold this offset then."""

        def is_ended() -> bool:
            self.hear()
            return not self.group.pending

        until(is_ended, seconds=SECONDS, awaited="the marker", poll_s=0)
        held = self.group.offsets.get("orders", {}).get(0)
        assert (None if held is None else held.offset) == offset

    def close(self) -> None:
        self._consumer.close()
        self._brokers.close()

    def _call(self, values: list[bytes]) -> list[tuple[str, Json]]:
        now_ms = time.time_ns() // 1_000_000
        first = self._offset
        self._offset += len(values)
        rows = [EventRow(now_ms, 0, first + i, None, value) for i, value in enumerate(values)]
        update = updated(self.id, self._state, rows, now_ms, CONTEXT)
        self._state = update.state
        found = [(line[0], json.loads(line[1:])) for line in lines_of(update)]
        self.awaited.note([line[1:] for line in lines_of(update) if line[0] == "M"])
        return found


class Scene:
    """A follower, and what the next one will know."""

    def __init__(self, address: str, events: str) -> None:
        self.address = address
        self.events = events
        self.files = FilesInMemory()
        self._stop = Event()

    def start(self) -> AwaitedMarkers:
        """Begin a run."""
        self._stop = Event()
        connection = Connection(self.address)
        self._reader, self._writer = MarkerReader(connection), EventWriter(connection, self.events)
        self._reader.make_topic()
        awaited = AwaitedMarkers(self.files)
        follower = MarkerFollower(awaited, self._reader, self._writer.write)
        self._thread = Thread(target=follower.run, args=(self._stop, 0.05))
        self._thread.start()
        return awaited

    def end(self) -> None:
        """End it."""
        self._stop.set()
        self._thread.join()
        self._reader.close()
        self._writer.close()


@pytest.fixture
def scene(broker: EmbeddedBroker, new_topics: NewTopics) -> Scene:
    return Scene(broker.bootstrap_servers, new_topics().events)


@pytest.fixture
def producer(scene: Scene, request: pytest.FixtureRequest) -> Iterator[TransactionalProducer]:
    with closing(TransactionalProducer(scene.address, request.node.name)) as made:
        yield made


@pytest.fixture
def group(scene: Scene, request: pytest.FixtureRequest) -> Iterator[FollowedGroup]:
    with closing(
        FollowedGroup(scene.address, scene.events, request.node.name, scene.start())
    ) as made:
        yield made
    scene.end()


def test_a_group_hears_how_transactions_end(
    producer: TransactionalProducer, group: FollowedGroup
) -> None:
    """The second one is aborted, and the third commits before the group hears of that."""
    producer.add(group.id)
    assert group.commit(producer, 1) == 0
    producer.end(commits=True)
    group.holds(1)

    producer.add(group.id)
    assert group.commit(producer, 2) == 0
    in_the_second = group.markers_end()
    producer.end(commits=False)
    producer.add(group.id)
    assert group.commit(producer, 3) == 0
    producer.end(commits=True)
    group.holds(3)
    assert group.commit(producer, 4, since=in_the_second) == 48


def test_a_follower_that_was_away_misses_nothing(
    scene: Scene, producer: TransactionalProducer, group: FollowedGroup
) -> None:
    scene.end()
    producer.add(group.id)
    assert group.commit(producer, 5) == 0
    producer.end(commits=True)

    group.awaited = scene.start()

    group.holds(5)


def test_a_successor_fences_the_producer(
    scene: Scene,
    producer: TransactionalProducer,
    group: FollowedGroup,
    request: pytest.FixtureRequest,
) -> None:
    """InitProducerId makes the transaction coordinator write an abort, of the next epoch."""
    producer.add(group.id)
    assert group.commit(producer, 6) == 0

    with closing(TransactionalProducer(scene.address, request.node.name)) as successor:
        assert successor.producer_id == producer.producer_id
        group.holds(None)
        assert group.commit(producer, 7) == 47
        successor.add(group.id)
        assert group.commit(successor, 8) == 0
        successor.end(commits=True)
        group.holds(8)
