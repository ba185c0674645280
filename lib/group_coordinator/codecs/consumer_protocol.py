"""Subscriptions and assignments inside JoinGroup and SyncGroup (ConsumerProtocol*.json in Kafka), opaque to the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from struct import Struct, error

from group_coordinator.core.embedded_protocol import Reader, assignment_bytes

_SHORT = Struct(">h")
_INT = Struct(">i")
_OWNED_PARTITIONS_SINCE = 1
_GENERATION_SINCE = 2
_RACK_SINCE = 3
_NULL = -1


def encode_subscription(
    topics: Iterable[str], version: int = 0, user_data: bytes | None = None
) -> bytes:
    """The metadata of a consumer that owns no partitions yet, in schema version 0-3."""
    names = [_encode_string(topic) for topic in topics]
    parts = [_SHORT.pack(version), _INT.pack(len(names)), *names, _encode_bytes(user_data)]
    if version >= _OWNED_PARTITIONS_SINCE:
        parts.append(_INT.pack(0))
    if version >= _GENERATION_SINCE:
        parts.append(_INT.pack(_NULL))
    if version >= _RACK_SINCE:
        parts.append(_SHORT.pack(_NULL))
    return b"".join(parts)


def encode_assignment(
    assignment: Mapping[str, Sequence[int]], user_data: bytes | None = None
) -> bytes:
    """What the leader gives a consumer: partitions by topic, in schema version 0."""
    return assignment_bytes(assignment.items(), user_data=user_data)


@lru_cache(maxsize=256)
def parse_subscription(data: bytes) -> tuple[str, ...] | None:
    """The subscribed topics, None if they are not readable.

    As Kafka's coordinator reads them (KIP-496): always as schema version 0, so that what later versions append does not
    matter, and the user data must be there. Where Kafka's own parser throws and the join never completes, the
    subscription just counts as unreadable.
    """
    reader = Reader(data)
    try:
        reader.short()
        topics = tuple(reader.string() for _ in range(reader.count()))
        reader.optional_bytes()
    except (error, ValueError):
        return None
    return topics


@lru_cache(maxsize=256)
def parse_assignment(data: bytes) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """The assigned partitions by topic, None if they are not readable."""
    reader = Reader(data)
    try:
        reader.short()
        assigned = reader.partitions()
        reader.optional_bytes()
    except (error, ValueError):
        return None
    return assigned


def _encode_string(text: str) -> bytes:
    encoded = text.encode()
    return _SHORT.pack(len(encoded)) + encoded


def _encode_bytes(data: bytes | None) -> bytes:
    return _INT.pack(_NULL) if data is None else _INT.pack(len(data)) + data
