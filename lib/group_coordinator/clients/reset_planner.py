"""Planner of resets, which asks the cluster only for the offsets that a scenario needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka import TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.errors import ClientError, UnknownTopicOrPartitionError
from group_coordinator.clients.reset_plan import (
    Facts,
    ResetPlan,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToOffsets,
    ToTime,
    plan_reset,
)

_BY_COMMITTED = (ToCurrent, ShiftBy)
_BY_START = (ToEarliest, ToOffset, ShiftBy, ToOffsets)
_BY_END = (ToLatest, ToCurrent, ToOffset, ShiftBy, ToOffsets, ToTime)


class LeaderNotAvailableError(ClientError):
    """The partition has no leader."""


class ResetPlanner:
    """Computes resets of groups, and changes nothing."""

    def __init__(self, admin: AdminClient, cluster: Cluster) -> None:
        self._admin = admin
        self._cluster = cluster

    def committed(self, group_id: str) -> dict[TopicPartition, int | None]:
        """Fetch the offsets of a group, without their metadata; None: an offset below 0."""
        found = self._admin.list_offsets_of_groups([group_id])[group_id]
        return {
            partition: None if committed is None else int(committed.offset)
            for partition, committed in found.items()
        }

    def partitions_of(
        self, topics: Mapping[str, Collection[int] | None]
    ) -> frozenset[TopicPartition]:
        """Partitions of these topics; None: all of a topic. Raises UnknownTopicOrPartitionError: such a topic does not exist."""
        whole = [topic for topic, numbers in topics.items() if numbers is None]
        known = self._cluster.partitions(whole)
        unknown = sorted(set(whole) - known.keys())
        if unknown:
            raise UnknownTopicOrPartitionError(f'The topics "{",".join(unknown)}" do not exist')
        return frozenset(
            TopicPartition(topic, number)
            for topic, numbers in topics.items()
            for number in (known[topic] if numbers is None else numbers)
        )

    def plan(
        self, group_id: str, partitions: Collection[TopicPartition], scenario: Scenario
    ) -> ResetPlan:
        """Compute the new offsets of some partitions.

        Raises UnknownTopicOrPartitionError: a partition does not exist. LeaderNotAvailableError: its log cannot be read. ChannelError: no
        answer. Other errors are those of plan_reset.
        """
        self._check(partitions)
        return plan_reset(scenario, partitions, self._facts(group_id, partitions, scenario))

    def _check(self, partitions: Collection[TopicPartition]) -> None:
        # Kafka's tool reports missing partitions before partitions without leaders.
        leaders = self._cluster.partition_leaders({partition.topic for partition in partitions})
        missing = [partition for partition in partitions if partition not in leaders]
        if missing:
            raise UnknownTopicOrPartitionError(f'The partitions "{_named(missing)}" do not exist')
        leaderless = [partition for partition in partitions if leaders[partition] is None]
        if leaderless:
            raise LeaderNotAvailableError(f'The partitions "{_named(leaderless)}" have no leader')

    def _facts(
        self, group_id: str, partitions: Collection[TopicPartition], scenario: Scenario
    ) -> Facts:
        cluster = self._cluster
        # Each kind of offset costs requests, and a scenario needs only some kinds.
        return Facts(
            self.committed(group_id) if isinstance(scenario, _BY_COMMITTED) else {},
            cluster.start_offsets(partitions) if isinstance(scenario, _BY_START) else {},
            cluster.end_offsets(partitions) if isinstance(scenario, _BY_END) else {},
            cluster.offsets_since(partitions, scenario.timestamp_ms)
            if isinstance(scenario, ToTime)
            else {},
        )


def _named(partitions: Collection[TopicPartition]) -> str:
    return ",".join(f"{one.topic}-{one.partition}" for one in sorted(partitions))
