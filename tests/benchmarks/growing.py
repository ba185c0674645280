"""What growth.py measures: groups of some size, and the events that are sent to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from group_coordinator.core.model.group import Group

GROUP_ID = "g"
NOW_MS = 1_767_225_600_000
TOPICS = 100
MANY = 41
"""Events of one call."""

SESSION_MS = 45_000
PATIENCE_MS = 300_000


class Sent(NamedTuple):
    """Events in JSON, of which the last one is measured; the others bring the group to it."""

    name: str
    events: tuple[bytes, ...]
    answer_grows: bool = False


class GrownGroup(NamedTuple):
    """A group, how large it is, and what is sent to it."""

    kind: str
    size: int
    group: Group
    events: tuple[Sent, ...]
    many: tuple[Sent, ...] = ()
    """The same event of many members, or for many partitions, which come in one call."""


def host(number: int) -> str:
    return f"/10.0.{number // 256}.{number % 256}"


def many(make: Callable[[int], bytes]) -> tuple[bytes, ...]:
    return tuple(make(number) for number in range(MANY))


def event_of(api: str, version: int, *, client_host: str = "/10.0.0.7", **body: Any) -> bytes:
    event = {
        "api": api,
        "version": version,
        "correlationId": "c-1",
        "clientId": "billing",
        "clientHost": client_host,
        "principal": "User:billing",
        "body": body,
    }
    return json.dumps(event, separators=(",", ":")).encode()


def topic_name(topic: int) -> str:
    return f"a-topic-of-some-length-{topic}"
