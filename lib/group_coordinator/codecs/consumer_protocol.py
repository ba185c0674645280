"""Subscriptions and assignments inside JoinGroup and SyncGroup (ConsumerProtocol*.json in Kafka), opaque to the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from struct import Struct, error

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
    parts = [_SHORT.pack(0), _INT.pack(len(assignment))]
    for topic, partitions in assignment.items():
        parts += [_encode_string(topic), _INT.pack(len(partitions))]
        parts += [_INT.pack(partition) for partition in partitions]
    return b"".join([*parts, _encode_bytes(user_data)])


@lru_cache(maxsize=256)
def parse_subscription(data: bytes) -> tuple[str, ...] | None:
    """The subscribed topics, None if they are not readable.

    As Kafka's coordinator reads them (KIP-496): always as schema version 0, so that what later versions append does not
    matter, and the user data must be there. Where Kafka's own parser throws and the join never completes, the
    subscription just counts as unreadable.
    """
    reader = _Reader(data)
    try:
        topics = tuple(reader.string() for _ in range(reader.count()))
        reader.skip_bytes()
    except (error, ValueError):
        return None
    return topics


@lru_cache(maxsize=256)
def parse_assignment(data: bytes) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """The assigned partitions by topic, None if they are not readable."""
    reader = _Reader(data)
    try:
        assigned = tuple(
            (reader.string(), tuple(reader.integer() for _ in range(reader.count())))
            for _ in range(reader.count())
        )
        reader.skip_bytes()
    except (error, ValueError):
        return None
    return assigned


def _encode_string(text: str) -> bytes:
    encoded = text.encode()
    return _SHORT.pack(len(encoded)) + encoded


def _encode_bytes(data: bytes | None) -> bytes:
    return _INT.pack(_NULL) if data is None else _INT.pack(len(data)) + data


class _Reader:
    """Reads one message from its start; `struct.error` or ValueError where there is not what was announced."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = _SHORT.size  # the version, which says nothing about the fields we read

    def integer(self) -> int:
        number: int = _INT.unpack_from(self.data, self.position)[0]
        self.position += _INT.size
        return number

    def count(self) -> int:
        """A length of an array, which is at least that many bytes long."""
        count = self.integer()
        if not 0 <= count <= len(self.data) - self.position:
            raise ValueError(count)
        return count

    def string(self) -> str:
        """A string; bytes that are not UTF-8 are replaced, as Java does."""
        (length,) = _SHORT.unpack_from(self.data, self.position)
        start = self.position + _SHORT.size
        if not 0 <= length <= len(self.data) - start:
            raise ValueError(length)
        self.position = start + length
        return self.data[start : self.position].decode(errors="replace")

    def skip_bytes(self) -> None:
        """Pass over bytes that may be null; any negative length is null."""
        length = self.integer()
        if length > len(self.data) - self.position:
            raise ValueError(length)
        self.position += max(length, 0)
