"""Reader of metadata: brokers, ids and partitions of topics, extents of logs, and whether the partitions' leaders are reachable."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from kafka import KafkaAdminClient, KafkaConsumer, OffsetSpec, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import BrokerResponseError, KafkaError, TopicAuthorizationFailedError
from kafka.protocol.admin import DescribeClusterRequest

from group_coordinator.binary.notation import uuid_text
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.errors import ChannelError
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.core.model.requests import Topic

LONGEST_TOPIC_NAME = 249
_MOST_NAMES = 10_000
"""Names in a request."""
_MAY_NOT_SEE = TopicAuthorizationFailedError.errno


def described_cluster(admin: KafkaAdminClient) -> dict[str, Any]:
    """Return the brokers, and this user's operations on the cluster. Raises KafkaError: the brokers do not respond."""
    try:
        return dict(admin.describe_cluster())
    except KeyError:
        # kafka-python looks for a field of the response that brokers of Kafka 2.8 to 3.6 do not send.
        request = DescribeClusterRequest(include_cluster_authorized_operations=True)
        manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
        return dict(admin._process_acl_operations(manager.run(manager.send, request).to_dict()))  # noqa: SLF001 - as the client does


def kafka_cluster_id(connection: Connection) -> str:
    """Return the id that Kafka made for the cluster. Raises ChannelError: the cluster does not respond, or rejects the login."""
    with connection.opened(KafkaAdminClient) as admin:
        return str(described_cluster(admin)["cluster_id"])


class VisibleTopics(NamedTuple):
    """Existing topics by name, and names that this user may not see: they may exist or not."""

    topics: dict[str, Topic]
    hidden: frozenset[str] = frozenset()

    def with_more(self, other: VisibleTopics) -> VisibleTopics:
        """Combine the topics of two results."""
        return VisibleTopics({**self.topics, **other.topics}, self.hidden | other.hidden)


class ClusterTopics(LastingClient[KafkaAdminClient]):
    """Asks the brokers repeatedly over a lasting connection, and connects again after a failure."""

    def __init__(self, connection: Connection, unlisted: Collection[str] = ()) -> None:
        """Take the topics that a request for all topics leaves out."""
        super().__init__(connection, KafkaAdminClient)
        self._unlisted = frozenset(unlisted)

    def read(self, names: Collection[str] | None) -> dict[str, Topic]:
        """Existing topics by name, None: all that this user may see. Raises ChannelError: as for `look`."""
        return self.look(names).topics

    def look(self, names: Collection[str] | None) -> VisibleTopics:
        """Existing and hidden topics of these names; None: all that this user may see.

        ChannelError: the cluster does not answer, or rejects the login.
        """
        with self.reported_failures():
            found = self._described(names)
            brokers = described_cluster(self.opened())["brokers"]
        if names is None:
            found = [topic for topic in found if topic["name"] not in self._unlisted]
        racks = {broker["broker_id"]: broker["rack"] for broker in brokers if broker["rack"]}
        return VisibleTopics(
            {topic["name"]: _topic(topic, racks) for topic in found if _exists(topic)},
            frozenset(topic["name"] for topic in found if topic["error_code"] == _MAY_NOT_SEE),
        )

    def _described(self, names: Collection[str] | None) -> list[dict[str, Any]]:
        if names is None:
            return list(self.opened().describe_topics(None))
        # Clients choose the names, and brokers close the connection after a request of 100 MiB.
        valid = sorted(name for name in names if len(name) <= LONGEST_TOPIC_NAME)
        parts = [valid[at : at + _MOST_NAMES] for at in range(0, len(valid), _MOST_NAMES)]
        return [topic for part in parts for topic in self.opened().describe_topics(part)]


def _exists(topic: Mapping[str, Any]) -> bool:
    # A topic without leaders has an error, and exists all the same.
    return topic["topic_id"] is not None and bool(topic["partitions"])


def _topic(topic: Mapping[str, Any], racks: Mapping[int, str]) -> Topic:
    # Metadata lists partitions in any order.
    partitions = sorted(topic["partitions"], key=lambda partition: partition["partition_index"])
    replicas = [partition["replica_nodes"] for partition in partitions]
    in_racks = racks_of(replicas, racks)
    return Topic(topic["name"], topic_id(topic), len(partitions), in_racks)


def racks_of(
    replicas: Iterable[Iterable[int]], racks: Mapping[int, str]
) -> tuple[tuple[str, ...], ...] | None:
    """Racks of each partition's replicas, sorted; None if no broker has a rack. `racks` has only brokers with a rack."""
    found = tuple(
        tuple(sorted(racks[broker] for broker in brokers if broker in racks))
        for brokers in replicas
    )
    return found if any(found) else None


def topic_id(topic: Mapping[str, Any]) -> str:
    """Id of a topic in kafka-python's metadata, as Kafka prints it; zeros where brokers before Kafka 2.8 return none."""
    return uuid_text(UUID(topic["topic_id"]).bytes) if topic.get("topic_id") else ZERO_UUID


_DELETE_RETENTION = "delete.retention.ms"


class TopicFacts(NamedTuple):
    """Facts of a topic; several topics may have had its name, one after the other."""

    topic_id: str
    extent: Mapping[int, range]
    """Offsets from the log start to the log end, by partition."""
    delete_retention_ms: int | None
    """Least lifetime of tombstones; None: this user may not read the topic's settings."""


def topic_facts(connection: Connection, topic: str) -> TopicFacts | None:
    """Ask the brokers; None: the topic does not exist, or this user may not see it.

    ChannelError: the cluster does not answer, or rejects the login.
    """
    with connection.opened(KafkaAdminClient) as admin:
        try:
            [described] = admin.describe_topics([topic])
            if described["error_code"]:
                return None
            numbers = [one["partition_index"] for one in described["partitions"]]
            partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
            starts, ends = (
                admin.list_partition_offsets(dict.fromkeys(partitions, spec))
                for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
            )
            retention_ms = _delete_retention_ms(admin, topic)
        except KafkaError as error:
            raise connection.failure(error) from error
    extent = {each.partition: range(starts[each].offset, ends[each].offset) for each in partitions}
    return TopicFacts(topic_id(described), extent, retention_ms)


def _delete_retention_ms(admin: KafkaAdminClient, topic: str) -> int | None:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    try:
        [found] = admin.describe_configs([resource], config_filter="all").values()
    except BrokerResponseError:
        return None
    setting = found.get(topic, {}).get(_DELETE_RETENTION)
    return None if setting is None else int(setting["value"])


Read: TypeAlias = Callable[[Collection[str]], Mapping[str, Topic]]

_ASKED_AGAIN_S = 1.0


class PartitionCount:
    """Partition count of a topic, read from the cluster at most once a second."""

    def __init__(self, read: Read, topic: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._topic = topic
        self._clock = clock
        self._count: int | None = None
        self._due_s = clock()

    def now(self) -> int:
        """Partition count; 0 if the topic does not exist. During an outage it is the last known count, or else a ChannelError."""
        if self._count is None:
            self._count = self._asked()
        elif self._clock() >= self._due_s:
            # The writer of the topic notices an outage itself, and handles it.
            with suppress(ChannelError):
                self._count = self._asked()
        return self._count

    def _asked(self) -> int:
        found = self._read([self._topic])
        # Set even without the topic, so that a missing topic is not asked for at each call.
        self._due_s = self._clock() + _ASKED_AGAIN_S
        return found[self._topic].num_partitions if self._topic in found else 0


def offsets_present(connection: Connection, topic: str) -> dict[int, range]:
    """Offsets of each partition from the first record to the next offset to write. Raises BrokerUnreachableError: no answer."""
    with connection.opened(KafkaConsumer, enable_auto_commit=False) as consumer:
        partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
        first = consumer.beginning_offsets(partitions)
        end = consumer.end_offsets(partitions)
    return {each.partition: range(first[each], end[each]) for each in partitions}


_TIMEOUT_MS = 3_000


class Leaders(LastingClient[KafkaConsumer]):
    """Asks all leaders repeatedly over the same connections, and connects again after a failure."""

    def __init__(self, connection: Connection, topic: str) -> None:
        super().__init__(connection, KafkaConsumer, enable_auto_commit=False)
        self._topic = topic

    def ask(self) -> None:
        """Return after all leaders have answered. Raises ChannelError: a leader does not answer, or rejects the login."""
        with self.reported_failures():
            consumer = self.opened()
            numbers = consumer.partitions_for_topic(self._topic) or ()
            partitions = [TopicPartition(self._topic, number) for number in numbers]
            # Only leaders answer this request.
            consumer.end_offsets(partitions, timeout_ms=_TIMEOUT_MS)
