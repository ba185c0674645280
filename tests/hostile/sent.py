"""What is sent, and what must become of it."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

Tree = dict[str, Any]


class Fate(StrEnum):
    ANSWERED = "answered rightly"
    DEAD_LETTER = "dead letter"
    UNSUPPORTED = "answered UNSUPPORTED_VERSION"
    REFUSED = "answered with Kafka's error"


class Sent(NamedTuple):
    """An event, what kind it is, what must become of it; the body of a good one's answer, a refused one's error code."""

    kind: str
    key: bytes | None
    value: bytes | None
    fate: Fate
    answer: Tree | None = None


def encoded(tree: Tree) -> bytes:
    return json.dumps(tree).encode()


def bad(kind: str, group: str | None, value: bytes | None) -> Sent:
    """An event that must end as a dead letter."""
    return Sent(kind, None if group is None else group.encode(), value, Fate.DEAD_LETTER)
