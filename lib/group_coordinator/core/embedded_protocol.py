"""Subscriptions and assignments inside JoinGroup and SyncGroup: the bytes of ConsumerProtocol*.json in Kafka.

A classic group only asks which topics its consumers name (`parse_`: what is not readable is None). A consumer group
understands all that its members of the classic protocol say, and answers in these bytes (`read_`: what is not readable
is an error). Source of the rules: ConsumerProtocol in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from struct import Struct, error

from group_coordinator.core.value import Value

_SHORT = Struct(">h")
_INT = Struct(">i")
_HIGHEST_VERSION = 3
_OWNED_PARTITIONS_SINCE = 1
_GENERATION_SINCE = 2
_RACK_SINCE = 3
_NULL = -1

NamedPartitions = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs (topic name, partitions)."""


class MalformedProtocolError(ValueError):
    """The bytes end early, their version is below 0, or a length is none (SchemaException in Kafka).

    A length is none if it exceeds the bytes that are left, or is negative where a value is required.
    """


class Subscription(Value, frozen=True):
    """What a consumer wants, and which partitions it has."""

    topics: tuple[str, ...]
    owned: NamedPartitions
    rack_id: str | None


class EmbeddedAssignment(Value, frozen=True):
    """What a consumer was given; user data comes from custom assignors alone."""

    assigned: NamedPartitions
    user_data: bytes | None


def read_subscription(data: bytes) -> Subscription:
    """Read a subscription of any version; what a later version appends is ignored.

    Raises:
        MalformedProtocolError: it ends early, or contradicts itself.
    """
    reader = _Reader(data)
    try:
        version = min(reader.version(), _HIGHEST_VERSION)
        topics = tuple(reader.string() for _ in range(reader.count()))
        reader.optional_bytes()
        owned = reader.partitions() if version >= _OWNED_PARTITIONS_SINCE else ()
        if version >= _GENERATION_SINCE:
            reader.integer()
        rack_id = reader.optional_string() if version >= _RACK_SINCE else None
    except error:
        raise MalformedProtocolError("a subscription ends early") from None
    return Subscription(topics, owned, rack_id)


def read_assignment(data: bytes) -> EmbeddedAssignment:
    """Read an assignment of any version.

    Raises:
        MalformedProtocolError: it ends early, or contradicts itself.
    """
    reader = _Reader(data)
    try:
        reader.version()
        return EmbeddedAssignment(reader.partitions(), reader.optional_bytes())
    except error:
        raise MalformedProtocolError("an assignment ends early") from None


def read_version(data: bytes) -> int:
    """The schema version of a subscription or an assignment.

    Raises:
        MalformedProtocolError: it is below 0, or there are not even two bytes.
    """
    try:
        return _Reader(data).version()
    except error:
        raise MalformedProtocolError("there is no version") from None


@lru_cache(maxsize=256)
def parse_subscription(data: bytes) -> tuple[str, ...] | None:
    """The subscribed topics, None if they are not readable.

    As Kafka's coordinator reads them (KIP-496): always as schema version 0, so that what later versions append does not
    matter, and the user data must be there.
    """
    reader = _Reader(data)
    try:
        reader.short()
        topics = tuple(reader.string() for _ in range(reader.count()))
        reader.optional_bytes()
    except (error, ValueError):
        return None
    return topics


@lru_cache(maxsize=256)
def parse_assignment(data: bytes) -> NamedPartitions | None:
    """The assigned partitions by topic, None if they are not readable."""
    reader = _Reader(data)
    try:
        reader.short()
        assigned = reader.partitions()
        reader.optional_bytes()
    except (error, ValueError):
        return None
    return assigned


def encode_subscription(
    topics: Iterable[str], version: int = 0, user_data: bytes | None = None
) -> bytes:
    """The metadata of a consumer that owns no partitions yet, in schema version 0-3."""
    names = [_encoded(topic) for topic in topics]
    parts = [_SHORT.pack(version), _INT.pack(len(names)), *names, _encoded_bytes(user_data)]
    if version >= _OWNED_PARTITIONS_SINCE:
        parts.append(_INT.pack(0))
    if version >= _GENERATION_SINCE:
        parts.append(_INT.pack(_NULL))
    if version >= _RACK_SINCE:
        parts.append(_SHORT.pack(_NULL))
    return b"".join(parts)


def encode_assignment(
    assigned: Mapping[str, Iterable[int]], version: int = 0, user_data: bytes | None = None
) -> bytes:
    """Partitions by topic, in a schema version, the highest at most; the fields are the same in all of them."""
    parts = [_SHORT.pack(min(version, _HIGHEST_VERSION)), _INT.pack(len(assigned))]
    for name, partitions in assigned.items():
        numbers = [_INT.pack(partition) for partition in partitions]
        parts += [_encoded(name), _INT.pack(len(numbers)), *numbers]
    parts.append(_encoded_bytes(user_data))
    return b"".join(parts)


def _encoded(text: str) -> bytes:
    encoded = text.encode()
    return _SHORT.pack(len(encoded)) + encoded


def _encoded_bytes(data: bytes | None) -> bytes:
    return _INT.pack(_NULL) if data is None else _INT.pack(len(data)) + data


class _Reader:
    """Reads one message from its start; `struct.error` where it ends early."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def short(self) -> int:
        """A number of 16 bits."""
        return self._number(_SHORT)

    def version(self) -> int:
        """The schema version, which comes first."""
        version = self.short()
        if version < 0:
            raise MalformedProtocolError(f"version {version}")
        return version

    def integer(self) -> int:
        """A number of 32 bits."""
        return self._number(_INT)

    def count(self) -> int:
        """How many elements a list has; each takes at least one byte."""
        return self._checked(self.integer())

    def string(self) -> str:
        """A text that must be there."""
        return self._take(self._checked(self.short())).decode(errors="replace")

    def optional_string(self) -> str | None:
        """A text or nothing."""
        length = self.short()
        return None if length < 0 else self._take(self._checked(length)).decode(errors="replace")

    def optional_bytes(self) -> bytes | None:
        """Bytes or nothing."""
        length = self.integer()
        return None if length < 0 else self._take(self._checked(length))

    def partitions(self) -> NamedPartitions:
        """Partitions by topic."""
        return tuple(
            (self.string(), tuple(self.integer() for _ in range(self.count())))
            for _ in range(self.count())
        )

    def _number(self, form: Struct) -> int:
        number: int = form.unpack_from(self._data, self._position)[0]
        self._position += form.size
        return number

    def _take(self, length: int) -> bytes:
        taken = self._data[self._position : self._position + length]
        self._position += length
        return taken

    def _checked(self, length: int) -> int:
        """The length, if it is not negative and so many bytes are left."""
        left = len(self._data) - self._position
        if not 0 <= length <= left:
            raise MalformedProtocolError(f"{length} announced, {left} bytes left")
        return length
