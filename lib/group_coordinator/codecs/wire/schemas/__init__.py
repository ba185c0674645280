"""Definitions of requests, responses and their headers, in every version."""

from __future__ import annotations

from group_coordinator.binary.notation import Message
from group_coordinator.codecs.wire.schemas import (
    cluster,
    configs,
    groups,
    log,
    offsets,
    security,
    topics,
    transactions,
)
from group_coordinator.codecs.wire.schemas.api import Api
from group_coordinator.codecs.wire.schemas.headers import HEADERS

APIS: dict[str, Api] = {
    api.name: api
    for api in (
        *groups.APIS,
        *offsets.APIS,
        *transactions.APIS,
        *log.APIS,
        *topics.APIS,
        *configs.APIS,
        *security.APIS,
        *cluster.APIS,
    )
}
"""All APIs that brokers of Kafka 4.4.0 offer to clients, by name, except the APIs of streams and share groups."""

MESSAGES: dict[str, Message] = {
    message.name: message
    for message in (*HEADERS, *(message for api in APIS.values() for message in api.messages))
}
"""All messages, by name ("OffsetCommitRequest")."""
