"""A rest ends as soon as there is an event to read, and only then."""

from __future__ import annotations

import time
from contextlib import closing
from threading import Timer

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import NewEvents
from group_coordinator.local.broker import EmbeddedBroker

pytestmark = pytest.mark.kafka

TOPIC = "new-events"
LONG_S = 60.0


@pytest.fixture(scope="module")
def connection(broker: EmbeddedBroker) -> Connection:
    connection = Connection(broker.bootstrap_servers)
    with connection.opened(KafkaAdminClient) as admin:
        admin.create_topics([NewTopic(TOPIC, 2, 1)], wait_for_metadata=True)
    return connection


def send(connection: Connection, partition: int) -> int:
    with connection.opened(KafkaProducer) as producer:
        return int(producer.send(TOPIC, value=b"x" * 10_000, partition=partition).get(30).offset)


def waited_s(
    events: NewEvents, ends: dict[int, int], seconds: float, *, must_go_on: bool = False
) -> float:
    begun_s = time.monotonic()
    events.wait({TOPIC: ends}, seconds, lambda: must_go_on)
    return time.monotonic() - begun_s


def test_an_event_ends_the_rest_whether_it_came_before_or_meanwhile(
    connection: Connection,
) -> None:
    ends = {partition: send(connection, partition) + 1 for partition in (0, 1)}
    with closing(NewEvents(connection, TOPIC)) as events:
        assert waited_s(events, ends, 0.5) >= 0.5

        soon = Timer(1, send, (connection, 1))
        soon.start()
        assert 0.9 < waited_s(events, ends, LONG_S) < LONG_S / 2
        soon.join()

        assert waited_s(events, ends, LONG_S) < LONG_S / 2
        assert waited_s(events, {0: ends[0]}, LONG_S) < LONG_S / 2


def test_the_end_of_the_job_ends_the_rest(connection: Connection) -> None:
    ends = {partition: send(connection, partition) + 1 for partition in (0, 1)}
    with closing(NewEvents(connection, TOPIC)) as events:
        assert waited_s(events, ends, LONG_S, must_go_on=True) < LONG_S / 2


def test_a_kafka_that_is_away_is_not_waited_for() -> None:
    with closing(NewEvents(Connection("127.0.0.1:1"), TOPIC)) as events:
        assert waited_s(events, {0: 0}, LONG_S) < LONG_S / 2
