"""What a script is made of: lines for a coordinator, each with what it must bring about."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
PARKED: Final = "parked"
"""The error of a request that is not answered yet: a later line has its answer."""

FORGOTTEN: Final = "forgotten"
"""The error of a request that Kafka never answers. We owe it an answer, whichever."""

Generation: TypeAlias = int | str

Errors: TypeAlias = int | tuple[int, ...] | Literal["parked", "forgotten"]


@dataclass(frozen=True)
class Line:
    """A line of `group-coordinator replay-events` with two kinds of placeholders.

    "$m1" is the id that member m1 was given, "#m1" the generation that m1 last joined, 0 before.
    """

    text: Json
    error: Errors = PARKED
    """The error codes in its own answer: one that all of them are, or all of them in order."""
    gives: str | None = None
    """What else it brings about, in the words of outcome.gist; None: the script does not say."""
    asks_for_id: bool = False
    """Whether the answer has the id of a new member: that of its client's name."""


@dataclass
class Tape:
    """What has been said so far, whichever group it was about."""

    lines: list[Line] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    now_ms: int = 0


@dataclass(frozen=True)
class Story:
    """A script with a name, what it is about, and the settings it needs."""

    name: str
    about: str
    settings: Mapping[str, str]
    lines: tuple[Line, ...]


def packed(text: bytes) -> str:
    return base64.b64encode(text).decode()


def subscription(*topics: str, version: int = 1, tail: bytes = b"\xff\xff\xff\xff") -> bytes:
    """Encode a ConsumerProtocolSubscription; the tail starts with its user data (none)."""
    names = [name.encode() for name in topics]
    prefix = version.to_bytes(2) + len(names).to_bytes(4)
    return prefix + b"".join(len(name).to_bytes(2) + name for name in names) + tail


def topic_id(spec: str) -> str:
    """Make up the id of a topic; "orders#2" is the topic that came after "orders" was deleted."""
    digest = hashlib.md5(spec.encode(), usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def described_topic(spec: str) -> Json:
    name, _, partitions = spec.rpartition(":")
    return {
        "name": name.partition("#")[0],
        "topicId": topic_id(name),
        "numPartitions": int(partitions),
    }


def by_topic(partitions: Sequence[str]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for spec in partitions:
        name, _, index = spec.rpartition("-")
        topics.setdefault(name, []).append(int(index))
    return topics
