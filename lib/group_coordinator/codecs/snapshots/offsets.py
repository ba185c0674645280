"""Committed offsets in a snapshot: a topic with many of them is encoded again only if one of them has changed."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Raw, msgpack

from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset

PackedOffsets: TypeAlias = dict[str, dict[int, CommittedOffset] | Raw]
"""By topic: the offsets by partition, or their bytes."""

_MANY = 64
"""Offsets of a topic: to encode fewer of them takes no longer than to find out that they are as before."""

_encode = msgpack.Encoder().encode


def packed(group: Group) -> PackedOffsets:
    """The offsets as they are written."""
    return {
        topic: partitions if len(partitions) < _MANY else _encoded(group, topic)
        for topic, partitions in group.offsets.items()
    }


def _encoded(group: Group, topic: str) -> Raw:
    memo = group.memo(topic)
    if memo.encoded is None:
        memo.encoded = _encode(group.offsets[topic])
    return Raw(memo.encoded)
