"""Kafka's own topic for what groups commit, and in which of its partitions a group is."""

from __future__ import annotations

from group_coordinator.core.kafka_order.java_tables import string_hash

OFFSETS_TOPIC = "__consumer_offsets"
"""Kafka's own name; a copy may have its messages in other partitions."""
ANY_GROUP = "group-coordinator"
"""A group that is never used: FindCoordinator for it makes the brokers create the topic."""

_HIGHEST = 0x7FFFFFFF
_LOWEST = 0x80000000


def partition_of(group_id: str, count: int) -> int:
    """The partition of a group among so many."""
    return hash_of(group_id) % count


def hash_of(group_id: str) -> int:
    """Utils.abs(groupId.hashCode()) in Kafka (GroupCoordinatorService.partitionFor)."""
    found = string_hash(group_id)
    if found <= _HIGHEST:
        return found
    return 0 if found == _LOWEST else (1 << 32) - found
