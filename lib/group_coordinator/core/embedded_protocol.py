"""Subscriptions and assignments inside JoinGroup and SyncGroup: the bytes of ConsumerProtocol*.json in Kafka.

A classic group reads only the topics of its consumers: `parse_` functions return None for unreadable bytes. A consumer group reads
all fields of its classic members, and responds in these bytes: `read_` functions raise an error. Source of the rules:
ConsumerProtocol in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from group_coordinator.binary.layouts import CONSUMER_PROTOCOL
from group_coordinator.binary.notation import (
    Field,
    Message,
    blob,
    int32,
    int32s,
    string,
    strings,
    structs,
)
from group_coordinator.binary.programs import READING_FAILURES, Decoder, Encoder
from group_coordinator.core.value import Value

_VERSION_SIZE = 2
# Later versions only add fields at the end: their bytes are read as this version.
_HIGHEST_VERSION = 3
_PARTITIONS = (string("topic"), int32s("partitions"))


def _message(name: str, fields: Iterable[Field]) -> Message:
    # No flexible versions: clients of any age read each other's bytes, and negotiate nothing.
    return Message(f"ConsumerProtocol{name}", range(_HIGHEST_VERSION + 1), None, tuple(fields))


SUBSCRIPTION = _message(
    "Subscription",
    [
        strings("topics"),
        blob("userData", nullable=True, default=None),
        structs("ownedPartitions", since=1)[*_PARTITIONS],
        int32("generationId", since=2, default=-1),
        string("rackId", since=3, nullable=True, default=None),
    ],
)
ASSIGNMENT = _message(
    "Assignment",
    [structs("assignedPartitions")[*_PARTITIONS], blob("userData", nullable=True, default=None)],
)
_MESSAGES = {message.name: message for message in (SUBSCRIPTION, ASSIGNMENT)}

NamedPartitions = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs (topic name, partitions)."""


class MalformedProtocolError(ValueError):
    """The bytes end early, their version is below 0, or a length is invalid (SchemaException in Kafka)."""


class Subscription(Value, frozen=True):
    """The subscription of a consumer, and its owned partitions."""

    topics: tuple[str, ...]
    owned: NamedPartitions
    rack_id: str | None


class EmbeddedAssignment(Value, frozen=True):
    """The assignment of a consumer. Only custom assignors set user data."""

    assigned: NamedPartitions
    user_data: bytes | None


def read_subscription(data: bytes) -> Subscription:
    """Read a subscription of any version. Fields of later versions are ignored.

    Raises MalformedProtocolError: the bytes end early, or contradict themselves.
    """
    found = _read(SUBSCRIPTION, data)
    owned = _named(found.get("ownedPartitions", ()))
    return Subscription(tuple(found["topics"]), owned, found.get("rackId"))


def read_assignment(data: bytes) -> EmbeddedAssignment:
    """Read an assignment of any version. Raises MalformedProtocolError: the bytes end early, or contradict themselves."""
    found = _read(ASSIGNMENT, data)
    return EmbeddedAssignment(_named(found["assignedPartitions"]), found["userData"])


def read_version(data: bytes) -> int:
    """Return the schema version of a subscription or an assignment.

    Raises MalformedProtocolError: the version is below 0, or has less than two bytes.
    """
    version = int.from_bytes(data[:_VERSION_SIZE], signed=True)
    if version < 0 or len(data) < _VERSION_SIZE:
        raise MalformedProtocolError(f"version {version} in {len(data)} bytes")
    return version


# Members of a group mostly have equal subscriptions.
@lru_cache(maxsize=256)
def parse_subscription(data: bytes) -> tuple[str, ...] | None:
    """Return the subscribed topics; None if they are unreadable.

    Kafka's coordinator reads them as schema version 0 (KIP-496): fields of later versions do not matter, and the user data is
    required.
    """
    try:
        return tuple(_decoded(SUBSCRIPTION, 0, data)["topics"])
    except READING_FAILURES:
        return None


@lru_cache(maxsize=256)
def parse_assignment(data: bytes) -> NamedPartitions | None:
    """Return the assigned partitions by topic; None if they are unreadable."""
    try:
        return _named(_decoded(ASSIGNMENT, 0, data)["assignedPartitions"])
    except READING_FAILURES:
        return None


def encode_subscription(
    topics: Iterable[str], version: int = 0, user_data: bytes | None = None
) -> bytes:
    """Encode the metadata of a consumer that owns no partitions yet, in schema version 0-3."""
    return encode(SUBSCRIPTION, version, {"topics": [*topics], "userData": user_data})


def encode_assignment(
    assigned: Mapping[str, Iterable[int]], version: int = 0, user_data: bytes | None = None
) -> bytes:
    """Encode partitions by topic in a schema version, at most the highest. The fields are the same in all versions."""
    named = [{"topic": name, "partitions": [*numbers]} for name, numbers in assigned.items()]
    body = {"assignedPartitions": named, "userData": user_data}
    return encode(ASSIGNMENT, min(version, _HIGHEST_VERSION), body)


def encode(message: Message, version: int, body: Mapping[str, Any]) -> bytes:
    """Encode SUBSCRIPTION or ASSIGNMENT after its schema version. Missing fields get their defaults."""
    # The version is in front, as the reader is another client and does not know the request's version.
    encoder = _encoder(message.name, version)
    return bytes(encoder.run(bytearray(version.to_bytes(_VERSION_SIZE)), body))


def _read(message: Message, data: bytes) -> dict[str, Any]:
    version = min(read_version(data), _HIGHEST_VERSION)
    try:
        return _decoded(message, version, data)
    except READING_FAILURES as failure:
        fault = _decoder(message.name, version).fault(failure)
        raise MalformedProtocolError(f"{message.name} v{version}: {fault}") from failure


def _decoded(message: Message, version: int, data: bytes) -> dict[str, Any]:
    return _decoder(message.name, version).run(data, _VERSION_SIZE, len(data))[0]


@cache
def _decoder(name: str, version: int) -> Decoder:
    return Decoder(_MESSAGES[name], version, CONSUMER_PROTOCOL)


@cache
def _encoder(name: str, version: int) -> Encoder:
    return Encoder(_MESSAGES[name], version, CONSUMER_PROTOCOL)


def _named(topics: Iterable[Mapping[str, Any]]) -> NamedPartitions:
    return tuple((topic["topic"], tuple(topic["partitions"])) for topic in topics)
