"""Committed offsets in a snapshot: a topic with many of them is encoded again only if one of them has changed."""

from __future__ import annotations

from typing import TypeAlias, cast

from msgspec import Raw, msgpack

from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset

Offsets: TypeAlias = dict[str, dict[int, CommittedOffset]]
"""By topic and partition."""

_MANY = 64
"""Offsets of a topic: to encode fewer of them takes no longer than to find out that they are as before."""

_encode = msgpack.Encoder().encode


def packed(group: Group) -> Offsets:
    """The offsets as they are written: msgspec writes bytes that are encoded already as they are."""
    found: dict[str, dict[int, CommittedOffset] | Raw] = {
        topic: partitions if len(partitions) < _MANY else _encoded(group, topic)
        for topic, partitions in group.offsets.items()
    }
    return cast("Offsets", found)


def _encoded(group: Group, topic: str) -> Raw:
    memo = group.memo(topic)
    if memo.encoded is None:
        memo.encoded = _encode(group.offsets[topic])
    return Raw(memo.encoded)
