"""What a topic is, as its readers have to know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafka import KafkaAdminClient, OffsetSpec, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import BrokerResponseError, KafkaError

from group_coordinator.clients.cluster.cluster_topics import topic_id
from group_coordinator.clients.cluster.connection import Connection

_DELETE_RETENTION = "delete.retention.ms"


class TopicFacts(NamedTuple):
    """A topic: a name may have been given to several, one after the other.

    `delete_retention_ms` is how long tombstones stay at least; None: this user may not read the topic's settings.
    """

    topic_id: str
    extent: Mapping[int, range]
    """By partition the offsets from the first record that is there to the end of the log."""
    delete_retention_ms: int | None


def topic_facts(connection: Connection, topic: str) -> TopicFacts | None:
    """Ask the brokers; None: there is no such topic, or this user may not see it.

    Raises:
        ChannelError: the cluster does not answer, or does not let us in.
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
