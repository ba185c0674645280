"""Responses as JSON. The body has Kafka's fields of the request's version."""

from __future__ import annotations

from group_coordinator.codecs.apis.table import CODECS
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.codecs.plain_json import JsonObject
from group_coordinator.core.model.responses import Reply

_BY_RESPONSE = {
    codec.encoder.response: (name, codec.encoder.to_body)
    for name, codec in CODECS.items()
    if codec.encoder
}


def to_json(group_id: str, reply: Reply, at_ms: int) -> JsonObject:
    """Convert a reply to a JSON object."""
    ticket, response = reply.ticket, reply.response
    api, to_body = _BY_RESPONSE[type(response)]
    return {
        "id": ticket.event_id,
        "correlationId": ticket.correlation_id,
        "api": api,
        "version": ticket.version,
        "groupId": group_id,
        "at": at_ms,
        "body": to_body(response, ticket.version),
    }


def refusal_to_json(
    group_id: str, event_id: str, fault: InvalidEventError, at_ms: int
) -> JsonObject:
    """Convert the error of an invalid event to a JSON object."""
    return {
        "id": event_id,
        "correlationId": fault.correlation_id,
        "api": fault.api,
        "version": fault.version,
        "groupId": group_id,
        "at": at_ms,
        "body": {"errorCode": fault.code, "errorMessage": fault.reason},
    }
