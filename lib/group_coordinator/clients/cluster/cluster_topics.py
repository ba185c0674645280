"""The cluster's topics as groups know them: ids, partitions, and the racks of their replicas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from kafka import KafkaAdminClient
from kafka.errors import TopicAuthorizationFailedError

from group_coordinator.binary.uuids import uuid_text
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.core.model.topic import Topic

_MAY_NOT_SEE = TopicAuthorizationFailedError.errno


class Look(NamedTuple):
    """The topics that were found, by name, and the names of those that we may not see: they may exist or not."""

    topics: dict[str, Topic]
    hidden: frozenset[str] = frozenset()

    def with_more(self, other: Look) -> Look:
        """Both together."""
        return Look({**self.topics, **other.topics}, self.hidden | other.hidden)


class ClusterTopics(LastingClient[KafkaAdminClient]):
    """Asks the brokers repeatedly over one connection, and connects again after a failure."""

    def __init__(self, connection: Connection, unlisted: Collection[str] = ()) -> None:
        """A look at all topics leaves out those that are `unlisted`."""
        super().__init__(connection, KafkaAdminClient)
        self._unlisted = frozenset(unlisted)

    def read(self, names: Collection[str] | None) -> dict[str, Topic]:
        """The topics of a look, by name.

        Raises:
            ChannelError: as for a look.
        """
        return self.look(names).topics

    def look(self, names: Collection[str] | None) -> Look:
        """The topics of these names that exist; None: all that we may see.

        Raises:
            ChannelError: the cluster does not answer, or does not let us in.
        """
        with self.failures_told():
            found = self.opened().describe_topics(None if names is None else sorted(names))
            brokers = self.opened().describe_cluster()["brokers"]
        if names is None:
            found = [topic for topic in found if topic["name"] not in self._unlisted]
        racks = {broker["broker_id"]: broker["rack"] for broker in brokers if broker["rack"]}
        return Look(
            {topic["name"]: _topic(topic, racks) for topic in found if _exists(topic)},
            frozenset(topic["name"] for topic in found if topic["error_code"] == _MAY_NOT_SEE),
        )


def _exists(topic: Mapping[str, Any]) -> bool:
    """Whether the brokers know the topic and let us see it; one without leaders may have an error all the same."""
    return topic["topic_id"] is not None and bool(topic["partitions"])


def _topic(topic: Mapping[str, Any], racks: Mapping[int, str]) -> Topic:
    partitions = sorted(topic["partitions"], key=lambda partition: partition["partition_index"])
    replicas = [partition["replica_nodes"] for partition in partitions]
    in_racks = racks_of(replicas, racks)
    return Topic(topic["name"], topic_id(topic), len(partitions), in_racks)


def racks_of(
    replicas: Iterable[Iterable[int]], racks: Mapping[int, str]
) -> tuple[tuple[str, ...], ...] | None:
    """The racks of each partition's replicas, sorted; None where none of these brokers is in a rack.

    Args:
        replicas: the brokers that have each partition.
        racks: those of brokers that are in one.
    """
    found = tuple(
        tuple(sorted(racks[broker] for broker in brokers if broker in racks))
        for brokers in replicas
    )
    return found if any(found) else None


def topic_id(topic: Mapping[str, Any]) -> str:
    """The id of a topic in kafka-python's answer, as Kafka prints it."""
    return uuid_text(UUID(topic["topic_id"]).bytes)
