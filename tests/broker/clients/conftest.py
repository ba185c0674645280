from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import count

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import CoordinatorNotAvailableError

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.fleet import DEADLINE_S
from tests.broker.clients.kafka_as_coordinator import KafkaAsCoordinator
from tests.broker.clients.topics import NewTopics, Topics, channel_of
from tests.support.until import until

_numbers = count(1)


@pytest.fixture(scope="session")
def broker(broker: EmbeddedBroker) -> EmbeddedBroker:
    """The session's broker, with its group coordinator loaded."""
    await_group_coordinator(broker)
    return broker


def await_group_coordinator(broker: EmbeddedBroker) -> None:
    """Kafka makes __consumer_offsets when it is first asked for, and loads it for a while."""
    # The hash codes of these names are 97 to 100: one for each of the topic's four partitions.
    names = ["a", "b", "c", "d"]
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:

        def all_answer() -> bool:
            try:
                described = admin.describe_groups(names)
            except CoordinatorNotAvailableError:
                return False
            return all("GroupIdNotFoundError" in group["error"] for group in described.values())

        until(all_answer, seconds=DEADLINE_S, awaited="the group coordinator")


@pytest.fixture(scope="session")
def kafka_admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        yield admin


@pytest.fixture(scope="session")
def cluster_topics(broker: EmbeddedBroker, kafka_admin: KafkaAdminClient) -> None:
    """orders with 6 partitions and 4 records in each, refunds-and-complaints with 2 partitions and none."""
    kafka_admin.create_topics([NewTopic("orders", 6, 1), NewTopic("refunds-and-complaints", 2, 1)])
    with closing(KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for number in range(24):
            producer.send("orders", value=b"order", partition=number % 6)


@pytest.fixture(scope="session")
def topic_ids(broker: EmbeddedBroker, cluster_topics: None) -> Mapping[str, str]:  # noqa: ARG001
    with closing(Cluster(Connection(broker.bootstrap_servers))) as cluster:
        return cluster.topic_ids(["orders", "refunds-and-complaints"])


@pytest.fixture(scope="session")
def new_topics(kafka_admin: KafkaAdminClient) -> NewTopics:
    """Makes topics that nobody else uses."""

    def create() -> Topics:
        number = next(_numbers)
        created = Topics(f"events-{number}", f"responses-{number}")
        kafka_admin.create_topics([NewTopic(name, 3, 1) for name in created])
        return created

    return create


@pytest.fixture(scope="module")
def topics(new_topics: NewTopics) -> Topics:
    return new_topics()


@pytest.fixture(scope="module")
def coordinator(broker: EmbeddedBroker, topics: Topics) -> Iterator[None]:
    with KafkaAsCoordinator(broker.bootstrap_servers, topics.events, topics.responses):
        yield


@pytest.fixture(scope="module")
def channel(broker: EmbeddedBroker, topics: Topics) -> Iterator[RequestChannel]:
    with channel_of(broker, topics) as opened:
        yield opened


@pytest.fixture(scope="module")
def admin(broker: EmbeddedBroker, topics: Topics) -> Iterator[AdminClient]:
    with AdminClient(
        bootstrap_servers=broker.bootstrap_servers,
        events_topic=topics.events,
        responses_topic=topics.responses,
        request_timeout_ms=20_000,
    ) as client:
        yield client
