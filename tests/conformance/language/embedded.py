"""What classic members of kind "consumer" embed in their requests: subscriptions and assignments, as Kafka encodes them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

from group_coordinator.core.embedded_protocol import (
    ASSIGNMENT,
    SUBSCRIPTION,
    encode,
    parse_assignment,
)
from tests.conformance.language.lines import Json, packed


def embedded_subscription(
    topics: Sequence[str], owned: Iterable[Json] = (), *, version: int = 3, generation: int = -1
) -> bytes:
    """Encode a ConsumerProtocolSubscription; owned are {"topic", "partitions"}, version 1 and later have them."""
    body = {"topics": topics, "ownedPartitions": [*owned], "generationId": generation}
    return encode(SUBSCRIPTION, version, body)


def embedded_assignment(
    partitions: Iterable[Json], *, version: int = 0, user_data: bytes | None = None
) -> bytes:
    """Encode a ConsumerProtocolAssignment."""
    body = {"assignedPartitions": [*partitions], "userData": user_data}
    return encode(ASSIGNMENT, version, body)


def assigned_in(assignment: str) -> list[Json]:
    """The partitions in a ConsumerProtocolAssignment in base64; nothing where there is none."""
    found = parse_assignment(base64.b64decode(assignment)) or ()
    return [{"topic": name, "partitions": [*partitions]} for name, partitions in found]


def with_sorted_topics(assignment: str) -> str:
    """The same ConsumerProtocolAssignment with its topics in order; what is none stays as it is."""
    found = sorted(assigned_in(assignment), key=lambda topic: str(topic["topic"]))
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
