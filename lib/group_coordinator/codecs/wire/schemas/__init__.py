"""Definitions of requests, responses and their headers, in every version."""

from __future__ import annotations

from group_coordinator.binary.notation import Message, int16, int32, string
from group_coordinator.codecs.wire.schemas import cluster, groups, log, offsets, topics
from group_coordinator.codecs.wire.schemas.api import Api

APIS: dict[str, Api] = {
    api.name: api for api in (*groups.APIS, *offsets.APIS, *log.APIS, *topics.APIS, *cluster.APIS)
}
"""All APIs that brokers of Kafka 4.4.0 offer to clients, by name, except the APIs of streams and share groups."""

_HEADERS = (
    Message(
        "RequestHeader",
        range(1, 3),
        2,
        (
            int16("requestApiKey"),
            int16("requestApiVersion"),
            int32("correlationId"),
            string("clientId", nullable=True, compact=False),
        ),
    ),
    Message("ResponseHeader", range(2), 1, (int32("correlationId"),)),
)

MESSAGES: dict[str, Message] = {
    message.name: message
    for message in (*_HEADERS, *(message for api in APIS.values() for message in api.messages))
}
"""All messages, by name ("OffsetCommitRequest")."""
