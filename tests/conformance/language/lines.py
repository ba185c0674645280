"""What a script is made of: lines for a coordinator, each with what it must bring about."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
PARKED: Final = "parked"
"""The error of a request that is not answered yet: a later line has its answer."""

FORGOTTEN: Final = "forgotten"
"""The error of a request that Kafka never answers. We owe it an answer, whichever."""

WHOLE: Final = "whole"
"""The log that a restarted coordinator loads: all records."""

LATEST: Final = "latest"
"""The last record of each key alone, as a log cleaner leaves it."""

LIVE: Final = "live"
"""The same without tombstones, as a log cleaner leaves it later."""

Generation: TypeAlias = int | str

Errors: TypeAlias = int | tuple[int, ...] | Literal["parked", "forgotten"]


@dataclass(frozen=True)
class Line:
    """A line of `group-coordinator replay-events` with placeholders.

    "$m1" is the id that member m1 was given, "#m1" the generation that m1 last joined or the epoch that it was last told, 0
    before; "@m1" the partitions that it was last given. A classic member's metadata may be {"subscribes": ...} (language/embedded.py).
    """

    text: Json
    error: Errors = PARKED
    """The error codes in its own answer: one that all of them are, or all of them in order."""
    also: str | None = None
    """What else it brings about, in the words of outcome.gist; None: the script does not say."""
    asks_for_id: bool = False
    """Whether the answer has the id of a new member: that of its client's name."""
    says: Mapping[str, Any] = field(default_factory=dict)
    """What its own answer says, by path: "memberEpoch", "groups.0.groupState"."""
    rejoin: Json | None = None
    """The body to send instead where the member has no id, or was told that it is none any more."""


@dataclass
class ScriptDraft:
    """What has been said so far, whichever group it was about."""

    lines: list[Line] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    instances: dict[str, str] = field(default_factory=dict)
    """The instance ids that members of consumer groups said."""
    now_ms: int = 0


@dataclass(frozen=True)
class Story:
    """A script with a name, what it is about, and the settings it needs."""

    name: str
    about: str
    settings: Mapping[str, str]
    lines: tuple[Line, ...]
    salt: str | None = None
    """Where it is given both sides make up the same member ids, so that Kafka's hash maps are ordered the same."""


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
    """Describe NAME:PARTITIONS; "orders:2@r1,r2|r1" has its first partition in two racks, its second in one."""
    text, at, racks = spec.partition("@")
    name, _, count = text.rpartition(":")
    topic = {
        "name": name.partition("#")[0],
        "topicId": topic_id(name),
        "numPartitions": int(count),
    }
    return topic | ({"racks": [one.split(",") for one in racks.split("|")]} if at else {})


def partitions(spec: str) -> list[Json]:
    """Tell partitions by topic id: "orders:01 audit:0" are three; "orders:0..11" twelve."""
    return [{"topicId": topic_id(name), "partitions": indexes} for name, indexes in _indexes(spec)]


def named_partitions(spec: str) -> list[Json]:
    """Tell partitions by topic name, as classic members do."""
    return [
        {"topic": name.partition("#")[0], "partitions": indexes} for name, indexes in _indexes(spec)
    ]


def _indexes(spec: str) -> Iterator[tuple[str, list[int]]]:
    for part in spec.split():
        name, _, indexes = part.rpartition(":")
        first, dots, last = indexes.partition("..")
        yield name, list(range(int(first), int(last) + 1) if dots else map(int, indexes))


def by_topic(partitions: Sequence[str]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for spec in partitions:
        name, _, index = spec.rpartition("-")
        topics.setdefault(name, []).append(int(index))
    return topics
