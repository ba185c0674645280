"""Reader of the brokers' topic metadata (partitions, ends, leaders) and of their retention of committed offsets."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from kafka import KafkaAdminClient, KafkaConsumer, OffsetSpec, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import (
    BrokerResponseError,
    InvalidTopicError,
    KafkaError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from kafka.partitioner import murmur2
from kafka.structs import OffsetAndTimestamp

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.topics import described_cluster, topic_id
from group_coordinator.clients.errors import BrokerUnreachableError

_NO_TOPIC = frozenset({UnknownTopicOrPartitionError.errno, InvalidTopicError.errno})
"""Errors of names without a topic; of the second kind are names that no topic can have."""


class Broker(NamedTuple):
    """Node of the cluster with its address."""

    host: str
    port: int
    broker_id: int


class Cluster:
    """Short-lived client that asks the brokers about topics."""

    def __init__(self, connection: Connection) -> None:
        """Connect to the cluster.

        Raises:
            BrokerUnreachableError: the cluster does not answer.
        """
        self._connection = connection
        self._admin = connection.open(KafkaAdminClient)

    def partitions(self, topics: Collection[str]) -> dict[str, frozenset[int]]:
        """Partitions of each existing topic; missing topics are left out."""
        return {
            topic["name"]: frozenset(one["partition_index"] for one in topic["partitions"])
            for topic in self._topics(topics)
        }

    def partition_counts(self, topics: Collection[str]) -> dict[str, int]:
        """Partition count of each existing topic."""
        return {topic: len(numbers) for topic, numbers in self.partitions(topics).items()}

    def topic_ids(self, topics: Collection[str] | None = None) -> dict[str, str]:
        """Id of each existing topic among these, or of all topics, as Kafka prints it."""
        return {topic["name"]: topic_id(topic) for topic in self._topics(topics)}

    def topics_seen(self, topics: Collection[str]) -> dict[str, str | None]:
        """Id of each topic, None: the topic does not exist. Topics that this user may not see are left out."""
        found = self._ask(self._admin.describe_topics, sorted(topics)) if topics else []
        return {
            topic["name"]: topic_id(topic) if topic["error_code"] == 0 else None
            for topic in found
            if topic["error_code"] in {0, *_NO_TOPIC}
        }

    def check_may_see(self, topic: str) -> None:
        """Raise AccessDeniedError if this user may not DESCRIBE the topic."""
        [found] = self._ask(self._admin.describe_topics, [topic])
        if found["error_code"] == TopicAuthorizationFailedError.errno:
            raise self._connection.failure(TopicAuthorizationFailedError(f"topic {topic}"))

    def partition_leaders(self, topics: Collection[str]) -> dict[TopicPartition, int | None]:
        """Leader's broker id of each partition of the existing topics; None: no leader."""
        return {
            TopicPartition(topic["name"], one["partition_index"]): one["leader_id"]
            if one["leader_id"] >= 0
            else None
            for topic in self._topics(topics)
            for one in topic["partitions"]
        }

    def start_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Log start offset of each partition with a leader; other partitions are left out."""
        return self._offsets(partitions, OffsetSpec.EARLIEST)

    def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Log end offset of each partition with a leader; other partitions are left out."""
        return self._offsets(partitions, OffsetSpec.LATEST)

    def offsets_since(
        self, partitions: Collection[TopicPartition], timestamp_ms: int
    ) -> dict[TopicPartition, int]:
        """Offset of each partition's first record with this or a later timestamp; partitions without such a record are left out."""
        return self.offsets_since_times(dict.fromkeys(partitions, timestamp_ms))

    def offsets_since_times(
        self, timestamps_ms: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Same as `offsets_since`, with a timestamp for each partition in `timestamps_ms`."""
        found = self._listed(timestamps_ms)
        return {partition: one.offset for partition, one in found.items() if one.offset >= 0}

    def newest_timestamps_ms(
        self, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Highest timestamp of each partition's records (KIP-734); partitions without a record are left out."""
        found = self._listed(dict.fromkeys(partitions, OffsetSpec.MAX_TIMESTAMP))
        return {partition: one.timestamp for partition, one in found.items() if one.timestamp >= 0}

    def _offsets(
        self, partitions: Collection[TopicPartition], spec: OffsetSpec
    ) -> dict[TopicPartition, int]:
        found = self._listed(dict.fromkeys(partitions, spec))
        return {partition: one.offset for partition, one in found.items()}

    def _listed(
        self, specs: Mapping[TopicPartition, OffsetSpec | int]
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        leaders = self.partition_leaders({partition.topic for partition in specs})
        # kafka-python fails the whole request if a partition has no leader.
        led = {one: spec for one, spec in specs.items() if leaders.get(one) is not None}
        found: dict[TopicPartition, OffsetAndTimestamp] = (
            self._ask(self._admin.list_partition_offsets, led) if led else {}
        )
        return found

    def leaders_of_keys(self, topic: str, keys: Collection[str]) -> dict[str, Broker]:
        """Leader of each key's partition; without the topic, or a leader, the key is left out."""
        leader_ids = {
            one["partition_index"]: one["leader_id"]
            for found in self._topics([topic])
            for one in found["partitions"]
        }
        brokers = {
            broker["broker_id"]: Broker(broker["host"], broker["port"], broker["broker_id"])
            for broker in self._ask(described_cluster, self._admin)["brokers"]
        }
        # The default partitioner of Kafka's producers.
        numbers = {key: int(murmur2(key.encode()) & 0x7FFFFFFF) for key in keys if leader_ids}
        leaders = {key: leader_ids[number % len(leader_ids)] for key, number in numbers.items()}
        return {key: brokers[leader] for key, leader in leaders.items() if leader in brokers}

    def close(self) -> None:
        """Disconnect from the cluster's brokers."""
        self._admin.close()

    def _topics(self, topics: Collection[str] | None) -> list[dict[str, Any]]:
        # No topics need no request.
        if topics is not None and not topics:
            return []
        wanted = None if topics is None else sorted(topics)
        found = self._ask(self._admin.describe_topics, wanted)
        return [topic for topic in found if topic["error_code"] == 0]

    def _ask(self, question: Any, *arguments: Any) -> Any:
        try:
            return question(*arguments)
        except KafkaError as error:
            raise self._connection.failure(error) from error


_READING_S = 60.0
_POLL_MS = 500
_FETCH_BYTES = 65_536
"""Limit for a partition: only its first record is read."""


def timestamps_ms_at(
    connection: Connection, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Timestamp of each partition's first record from its offset on; partitions without such a record are left out.

    Partitions must exist. Raises BrokerUnreachableError: a record could not be read.
    """
    # No group: reading must not change any. An offset before the log's start becomes the start.
    options = {"group_id": None, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    found: dict[TopicPartition, int] = {}
    with connection.opened(
        KafkaConsumer, max_partition_fetch_bytes=_FETCH_BYTES, **options
    ) as consumer:
        ends = consumer.end_offsets(list(offsets))
        left = {one for one, offset in offsets.items() if offset < ends[one]}
        consumer.assign(left)
        for one in left:
            consumer.seek(one, offsets[one])
        end_s = time.monotonic() + _READING_S
        while left:
            if time.monotonic() > end_s:
                raise BrokerUnreachableError(f"no record of {min(left)} within {_READING_S:g} s")
            for one, records in consumer.poll(_POLL_MS).items():
                found[one] = records[0].timestamp
                consumer.pause(one)
            # Behind the last record there may be transaction markers, which a consumer passes silently.
            left = {one for one in left - found.keys() if consumer.position(one) < ends[one]}
    return found


def offsets_by_timestamp(
    source: Connection, target: Cluster, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Offsets of the first records of `target` that are not older than the records at these offsets of `source`.

    An offset at the log's end becomes the first record that is younger than all records of `source`, or the end. Partitions without
    records in `source` are left out. Raises ChannelError.
    """
    with closing(Cluster(source)) as cluster:
        newest_ms = cluster.newest_timestamps_ms(offsets)
    found_ms = timestamps_ms_at(source, {one: offsets[one] for one in newest_ms})
    since_ms = {one: found_ms.get(one, newest_ms[one] + 1) for one in newest_ms}
    ends, since = target.end_offsets(since_ms), target.offsets_since_times(since_ms)
    # Partitions without a leader in `target` have no end, and no offset is used for them.
    return {one: since.get(one, ends.get(one, 0)) for one in since_ms}


RETENTION, CHECK_INTERVAL = "offsets.retention.minutes", "offsets.retention.check.interval.ms"


class BrokerRetention(NamedTuple):
    """Brokers' settings of these names."""

    retention_minutes: int
    check_interval_ms: int


def broker_retention(connection: Connection) -> BrokerRetention | None:
    """Settings of a broker, as all that coordinate groups should agree. None: this user may not read them.

    ChannelError: the cluster does not answer, or rejects the login.
    """
    with connection.opened(KafkaAdminClient) as admin:
        broker_id = str(min(each["broker_id"] for each in described_cluster(admin)["brokers"]))
        resource = ConfigResource(ConfigResourceType.BROKER, broker_id)
        try:
            [of_brokers] = admin.describe_configs([resource], config_filter="all").values()
        except BrokerResponseError:
            return None
    values = {name: about["value"] for name, about in of_brokers.get(broker_id, {}).items()}
    if not {RETENTION, CHECK_INTERVAL} <= values.keys():
        return None
    return BrokerRetention(int(values[RETENTION]), int(values[CHECK_INTERVAL]))
