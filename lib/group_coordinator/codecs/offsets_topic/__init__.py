"""Kafka's __consumer_offsets: its partitions, and conversion between its bytes, rows of the log as Kafka's formatter prints them, and core's records.

The layout of every record type and version is data (`schemas.py`, in the notation of `binary`).
"""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.messages import (
    DamagedMessageError,
    MessageRecord,
    OffsetsTopicError,
    UnknownRecordTypeError,
    UnknownVersionError,
    decode,
    decode_entry,
    encode,
    encode_entry,
)
from group_coordinator.core.kafka_order import string_hash

__all__ = [
    "ANY_GROUP",
    "OFFSETS_TOPIC",
    "DamagedMessageError",
    "MessageRecord",
    "OffsetsTopicError",
    "UnknownRecordTypeError",
    "UnknownVersionError",
    "decode",
    "decode_entry",
    "encode",
    "encode_entry",
    "hash_of",
    "partition_of",
]


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
