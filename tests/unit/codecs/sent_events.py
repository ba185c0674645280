"""Events as they are sent, and how they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.codecs import events
from group_coordinator.codecs.events import InvalidEventError

Json = dict[str, Any]


def commit(**fields: object) -> Json:
    partition = {"partitionIndex": 0, "committedOffset": 42, "committedMetadata": None}
    body = {"groupId": "g", "topics": [{"name": "orders", "partitions": [partition]}]}
    return {"api": "OffsetCommit", "version": 8, "correlationId": "c-17", "body": body} | fields


def event(api: str, version: int, **body: object) -> Json:
    return {"api": api, "version": version, "correlationId": "c-17", "body": body}


def refused(value: bytes | Json) -> InvalidEventError:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(InvalidEventError) as refusal:
        events.decode(text)
    return refusal.value
