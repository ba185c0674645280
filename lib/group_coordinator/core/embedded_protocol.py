"""Subscriptions and assignments inside JoinGroup and SyncGroup (ConsumerProtocol*.json in Kafka), wholly read.

A consumer group understands what its members of the classic protocol say in these bytes, and answers in them. Source of
the rules: ConsumerProtocol in Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    """The bytes end early, or their version is below 0 (SchemaException in Kafka)."""


class ImpossibleProtocolError(ValueError):
    """The bytes announce more than there is, or nothing where something must be: Kafka's reader breaks down."""


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
    """Read a subscription of any version; what a version later than ours appends does not matter.

    Raises:
        MalformedProtocolError: it ends early.
        ImpossibleProtocolError: it contradicts itself.
    """
    reader = Reader(data)
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
        MalformedProtocolError: it ends early.
        ImpossibleProtocolError: it contradicts itself.
    """
    reader = Reader(data)
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
        return Reader(data).version()
    except error:
        raise MalformedProtocolError("there is no version") from None


def assignment_bytes(
    assigned: Iterable[tuple[str, Iterable[int]]], version: int = 0, user_data: bytes | None = None
) -> bytes:
    """An assignment in a schema version, the highest at most; its fields are the same in all of them."""
    topics = [(name.encode(), tuple(partitions)) for name, partitions in assigned]
    parts = [_SHORT.pack(min(version, _HIGHEST_VERSION)), _INT.pack(len(topics))]
    for name, partitions in topics:
        parts += [_SHORT.pack(len(name)), name, _INT.pack(len(partitions))]
        parts += [_INT.pack(partition) for partition in partitions]
    parts += [_INT.pack(_NULL)] if user_data is None else [_INT.pack(len(user_data)), user_data]
    return b"".join(parts)


class Reader:
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
        """A length, unless it is more than what is left, or that of nothing."""
        left = len(self._data) - self._position
        if not 0 <= length <= left:
            raise ImpossibleProtocolError(f"{length} announced, {left} bytes left")
        return length
