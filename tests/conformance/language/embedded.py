"""What classic members of kind "consumer" embed in their requests: subscriptions and assignments, as Kafka encodes them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

from tests.conformance.language.lines import Json, packed

_NO_BYTES = (-1).to_bytes(4, signed=True)
_NO_STRING = (-1).to_bytes(2, signed=True)


def embedded_subscription(
    topics: Sequence[str], owned: Iterable[Json] = (), *, version: int = 3, generation: int = -1
) -> bytes:
    """Encode a ConsumerProtocolSubscription; owned are {"topic", "partitions"}, version 1 and later have them."""
    encoded = version.to_bytes(2) + _strings(topics) + _NO_BYTES
    if version >= 1:
        encoded += _partitions(owned)
    if version >= 2:
        encoded += generation.to_bytes(4, signed=True)
    return encoded + (_NO_STRING if version >= 3 else b"")


def embedded_assignment(
    partitions: Iterable[Json], *, version: int = 0, user_data: bytes | None = None
) -> bytes:
    """Encode a ConsumerProtocolAssignment."""
    tail = _NO_BYTES if user_data is None else len(user_data).to_bytes(4) + user_data
    return version.to_bytes(2) + _partitions(partitions) + tail


def assigned_in(assignment: str) -> list[Json]:
    """The partitions in a ConsumerProtocolAssignment in base64; nothing where there are no bytes."""
    encoded = base64.b64decode(assignment)
    found: list[Json] = []
    position = 6
    for _ in range(int.from_bytes(encoded[2:6])):
        if position >= len(encoded):
            break  # no assignment, but some other bytes
        length = int.from_bytes(encoded[position : position + 2])
        name = encoded[position + 2 : position + 2 + length].decode()
        position += 2 + length
        count = int.from_bytes(encoded[position : position + 4])
        end = position + 4 + 4 * count
        indexes = [int.from_bytes(encoded[i : i + 4]) for i in range(position + 4, end, 4)]
        found.append({"topic": name, "partitions": indexes})
        position = end
    return found


def with_sorted_topics(assignment: str) -> str:
    """The same ConsumerProtocolAssignment with its topics in order; what is none stays as it is."""
    try:
        found = sorted(assigned_in(assignment), key=lambda topic: str(topic["topic"]))
    except UnicodeDecodeError:
        return assignment
    version = int.from_bytes(base64.b64decode(assignment)[:2])
    in_order = packed(embedded_assignment(found, version=version))
    return in_order if len(in_order) == len(assignment) else assignment


def with_metadata(node: object) -> object:
    """Encode every {"subscribes": [TOPIC], "owned", "version", "generation"} below this node."""
    if isinstance(node, list):
        return [with_metadata(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "subscribes" in node:
        owned = node["owned"] or ()
        version, generation = node["version"], node["generation"]
        return packed(
            embedded_subscription(node["subscribes"], owned, version=version, generation=generation)
        )
    return {name: with_metadata(value) for name, value in node.items()}


def _strings(texts: Sequence[str]) -> bytes:
    return len(texts).to_bytes(4) + b"".join(map(_string, texts))


def _string(text: str) -> bytes:
    return len(text.encode()).to_bytes(2) + text.encode()


def _partitions(topics: Iterable[Json]) -> bytes:
    encoded = [
        _string(topic["topic"])
        + len(topic["partitions"]).to_bytes(4)
        + b"".join(index.to_bytes(4) for index in topic["partitions"])
        for topic in topics
    ]
    return len(encoded).to_bytes(4) + b"".join(encoded)
