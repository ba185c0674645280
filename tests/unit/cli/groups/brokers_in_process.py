"""Topics without brokers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka import TopicPartition

from group_coordinator.clients.cluster.cluster import Broker

Log = tuple[int, int]
"""Where it begins and ends; a record each second since the epoch, the first one at second 0."""

_LATEST = -1
"""Where a broker is asked for a time: the end of the log."""


class BrokersInProcess:
    """As Cluster."""

    def __init__(self, logs: Mapping[TopicPartition, Log]) -> None:
        self._logs = logs
        self.leaderless: set[TopicPartition] = set()
        self.is_closed = False

    def partitions(self, topics: Collection[str]) -> dict[str, frozenset[int]]:
        found = {one.topic for one in self._logs if one.topic in topics}
        return {
            topic: frozenset(one.partition for one in self._logs if one.topic == topic)
            for topic in found
        }

    def partition_leaders(self, topics: Collection[str]) -> dict[TopicPartition, int | None]:
        return {
            one: None if one in self.leaderless else 1 for one in self._logs if one.topic in topics
        }

    def topics_seen(self, topics: Collection[str]) -> dict[str, str]:
        return {topic: f"id of {topic}" for topic in self.partitions(topics)}

    def start_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {one: self._logs[one][0] for one in partitions if one not in self.leaderless}

    def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {one: self._logs[one][1] for one in partitions if one in self._logs}

    def offsets_since(
        self, partitions: Collection[TopicPartition], timestamp_ms: int
    ) -> dict[TopicPartition, int]:
        if timestamp_ms == _LATEST:
            return self.end_offsets(partitions)
        second = -(-timestamp_ms // 1_000)
        return {
            one: max(second, self._logs[one][0])
            for one in partitions
            if second < self._logs[one][1]
        }

    def leaders_of_keys(self, topic: str, keys: Collection[str]) -> dict[str, Broker]:
        assert topic
        return dict.fromkeys(keys, Broker("kafka-1", 9092, 1))

    def close(self) -> None:
        self.is_closed = True
