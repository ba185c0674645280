"""The name of Kafka's offsets topic, and the partition of a group in it."""

from __future__ import annotations

from group_coordinator.core.kafka_order import string_hash

OFFSETS_TOPIC = "__consumer_offsets"
"""Kafka's own name. A copy may have its messages in other partitions."""
ANY_GROUP = "group-coordinator"
"""A group that is never used. FindCoordinator for it makes the brokers create the topic."""

_HIGHEST = 0x7FFFFFFF
_LOWEST = 0x80000000


def partition_of(group_id: str, count: int) -> int:
    """Return the partition of a group for this number of partitions."""
    return hash_of(group_id) % count


def hash_of(group_id: str) -> int:
    """Return Utils.abs(groupId.hashCode()) of Kafka (GroupCoordinatorService.partitionFor)."""
    found = string_hash(group_id)
    if found <= _HIGHEST:
        return found
    # Java has no positive number for the lowest int: Kafka's abs returns 0.
    return 0 if found == _LOWEST else (1 << 32) - found
