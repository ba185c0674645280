"""The task of topic metadata between a real broker's topics and a group that reads the events it writes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer
from kafka.admin import NewPartitions, NewTopic

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.clients.cluster.topics import ClusterTopics
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.model.requests import Topic
from group_coordinator.driver.tasks.topic_metadata import TopicMetadataTask
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import load
from tests.support.files import FilesInMemory
from tests.support.group_updates import lines_of, updated
from tests.support.until import until

pytestmark = pytest.mark.kafka

EVENTS = "group-events"
INTERVAL_S = 0.2
SECONDS = 10.0
"""Topic metadata reaches a group within this time, generously: the machine may be busy."""
CONTEXT = UpdateContext(
    load().coordinator, EVENTS, 1_000, timers_suspended=False, asks_for_topics=True
)
Json = dict[str, Any]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder, properties={"broker.rack": "rack-1"}) as broker:
        yield f"127.0.0.1:{broker.port}"


@pytest.fixture
def admin(address: str) -> Iterator[KafkaAdminClient]:
    with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
        yield admin


class Group:
    """One group of the job, without the job: it takes its events from Kafka and says what it needs."""

    def __init__(self, address: str, group_id: str, subscriptions: GroupSubscriptions) -> None:
        self.id = group_id
        self.state: bytes | None = None
        self.knows: dict[str, Any] = {}
        self._subscriptions = subscriptions
        self._offset = 0
        self._consumer = KafkaConsumer(
            EVENTS, bootstrap_servers=address, auto_offset_reset="earliest"
        )

    def take(self, event: Json) -> Json:
        """Take an event at once; the answer."""
        value = json.dumps({**event, "correlationId": "c"}).encode()
        [answer] = [line for tag, line in self._call([value]) if tag == "R"]
        body: Json = answer["body"]
        return body

    def heartbeat(self, epoch: int, **body: object) -> Json:
        body |= {"groupId": self.id, "memberId": "m", "memberEpoch": epoch}
        if epoch == 0:
            body |= {"rebalanceTimeoutMs": 60_000, "topicPartitions": []}
        return self.take({"api": "ConsumerGroupHeartbeat", "version": 1, "body": body})

    def hear(self) -> Json:
        """Wait for the next TopicMetadata event, and take it."""
        values = until(self._news, seconds=SECONDS, awaited="TopicMetadata", poll_s=0)
        self._call(values)
        body: Json = json.loads(values[-1])["body"]
        return body

    def _news(self) -> list[bytes]:
        return [
            record.value
            for records in self._consumer.poll(timeout_ms=100).values()
            for record in records
            if record.key == self.id.encode()
        ]

    def close(self) -> None:
        self._consumer.close()

    def _call(self, values: list[bytes]) -> list[tuple[str, Json]]:
        now_ms = int(time.time() * 1000)
        rows = []
        for value in values:
            rows.append(EventRow(now_ms, 0, self._offset, None, value))
            self._offset += 1
        update = updated(self.id, self.state, rows, now_ms, CONTEXT)
        self.state = update.state
        found = [(line[0], json.loads(line[1:])) for line in lines_of(update)]
        needs = [line[1:] for line in lines_of(update) if line[0] == "T"]
        if needs:
            self._subscriptions.note(needs)
        return found


@pytest.fixture
def subscriptions() -> GroupSubscriptions:
    return GroupSubscriptions(FilesInMemory())


@pytest.fixture
def running(
    address: str, subscriptions: GroupSubscriptions, admin: KafkaAdminClient
) -> Iterator[None]:
    admin.create_topics([NewTopic(EVENTS, 1, 1)], wait_for_metadata=True)
    connection = Connection(address)
    cluster = ClusterTopics(connection, [EVENTS])
    writer, stop = EventWriter(connection, EVENTS), Event()
    agent = TopicMetadataTask(subscriptions, cluster.look, writer.write)
    thread = Thread(target=agent.run, args=[stop, INTERVAL_S])
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        cluster.close()
        writer.close()
    admin.delete_topics([EVENTS])


@pytest.mark.usefixtures("running")
def test_a_group_follows_its_topics(
    address: str, admin: KafkaAdminClient, subscriptions: GroupSubscriptions
) -> None:
    with closing(Group(address, "g", subscriptions)) as group:
        joined = group.heartbeat(0, subscribedTopicNames=["orders"])
        assert joined["assignment"] == {"topicPartitions": []}
        assert group.hear()["topics"] == []

        admin.create_topics([NewTopic("orders", 2, 1)])
        [orders] = group.hear()["topics"]
        assert (orders["name"], orders["numPartitions"]) == ("orders", 2)
        assert orders["racks"] == [["rack-1"], ["rack-1"]]
        epoch = joined["memberEpoch"]
        given = assigned(group, epoch)
        assert given == [{"topicId": orders["topicId"], "partitions": [0, 1]}]

        admin.create_partitions({"orders": NewPartitions(3)})
        [grown] = group.hear()["topics"]
        assert (grown["topicId"], grown["numPartitions"]) == (orders["topicId"], 3)

        admin.delete_topics(["orders"])
        gone = group.hear()
        assert gone["topics"] == []
        assert gone["deletedTopics"] == [{"name": "orders", "topicId": orders["topicId"]}]

        admin.create_topics([NewTopic("orders", 1, 1)])
        [anew] = group.hear()["topics"]
        assert anew["topicId"] != orders["topicId"]
        assert anew["numPartitions"] == 1


def assigned(group: Group, epoch: int) -> list[Json]:
    """What the member gets with its next heartbeats; assignments are a second apart."""

    def partitions() -> list[Json]:
        nonlocal epoch
        answer = group.heartbeat(epoch)
        assert answer["errorCode"] == 0, answer
        epoch = answer["memberEpoch"]
        found: list[Json] = (answer["assignment"] or {}).get("topicPartitions", [])
        return found

    return until(partitions, seconds=SECONDS, awaited="an assignment", poll_s=0.1)


@pytest.mark.usefixtures("running")
def test_a_pattern_hears_of_new_topics_but_not_of_the_events(
    address: str, admin: KafkaAdminClient, subscriptions: GroupSubscriptions
) -> None:
    admin.create_topics([NewTopic("pay-1", 1, 1), NewTopic("other", 1, 1)], wait_for_metadata=True)
    with closing(Group(address, "by-pattern", subscriptions)) as group:
        group.heartbeat(0, subscribedTopicRegex="pay-.*|group-.*")
        assert [topic["name"] for topic in group.hear()["topics"]] == ["pay-1"]
        admin.create_topics([NewTopic("pay-2", 1, 1)])
        assert [topic["name"] for topic in group.hear()["topics"]] == ["pay-1", "pay-2"]


def test_a_broker_that_is_away_is_told_apart_from_topics_that_are_gone(tmp_path: Path) -> None:
    with pytest.raises(BrokerUnreachableError):
        ClusterTopics(Connection("127.0.0.1:1")).read(["orders"])
    with EmbeddedBroker(tmp_path) as broker:
        cluster = ClusterTopics(Connection(f"127.0.0.1:{broker.port}"))
        assert cluster.read(["orders"]) == {}
        with closing(KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{broker.port}")) as admin:
            admin.create_topics([NewTopic("orders", 1, 1)], wait_for_metadata=True)
        found = cluster.read(["orders", "nope"])["orders"]
        assert found == Topic("orders", found.topic_id, 1, None)
    with pytest.raises(BrokerUnreachableError):
        cluster.read(["orders"])
    cluster.close()


def test_names_that_clients_choose_do_not_end_the_connection(
    address: str, admin: KafkaAdminClient
) -> None:
    admin.create_topics([NewTopic("a-first", 1, 1), NewTopic("z-last", 1, 1)])
    # More than 100 MiB, which is Kafka's limit of a request, and more than a request of ours has.
    names = {f"{number}".rjust(32_000, "x") for number in range(3_500)}
    names |= {f"missing-{number}" for number in range(10_000)}
    with closing(ClusterTopics(Connection(address))) as cluster:
        found = cluster.read({"a-first", "z-last"} | names)
    admin.delete_topics(["a-first", "z-last"])
    assert set(found) == {"a-first", "z-last"}
