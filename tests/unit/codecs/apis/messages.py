"""Bodies as requests, and responses as bodies."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from group_coordinator.codecs import events
from group_coordinator.codecs import events as responses
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.requests import Request
from group_coordinator.core.model.responses import Reply, Response


def read(api: str, version: int, body: dict[str, Any]) -> Request:
    """The request of an event with this body."""
    event = {"api": api, "version": version, "body": body}
    return events.decode(json.dumps(event).encode()).request


def written(response: Response, version: int) -> str:
    """The body of a response, which the tests compare with what Kafka's own converters print for that version."""
    reply = Reply(ReplyAddress("events-3-1742", "c-17", version), response)
    return msgspec.json.encode(responses.to_json("g", reply, 1_000)["body"]).decode()


def written_fields(response: Response, version: int) -> dict[str, Any]:
    """The body of a response, its fields in any order."""
    fields: dict[str, Any] = json.loads(written(response, version))
    return fields
