"""What clients and a broker said about groups, in the lines in which our state machine is told it."""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final
from uuid import UUID

from tests.conformance.language.lines import Json

_UUID_TEXT: Final = 36


def now_ms() -> int:
    """A clock that never goes back."""
    return int(time.monotonic() * 1000)


@dataclass
class Exchange:
    """A request, when the broker was told it, and its answer if there was one."""

    at_ms: int
    event: Json
    answer: Json | None = None
    answered: Event = field(default_factory=Event)

    @property
    def made_id(self) -> str | None:
        """The uuid text in the member id that the broker made up for a JoinGroup without one."""
        if self.event["api"] != "JoinGroup" or self.event["body"]["memberId"] or not self.answer:
            return None
        member_id = str(self.answer["memberId"])
        return _uuid_text(member_id) if member_id else None


@dataclass
class TopicsChange:
    """From then on the cluster has these topics and no others."""

    at_ms: int
    topics: list[Json]


@dataclass
class Conversation:
    """Everything in the order in which the broker was told it."""

    entries: list[Exchange | TopicsChange] = field(default_factory=list)

    def lines(self, end_ms: int) -> Iterator[Json]:
        """Tell it in lines of replay-events; the last one lets time pass."""
        for number, entry in enumerate(self.entries):
            if isinstance(entry, Exchange):
                event = entry.event | {"correlationId": _correlation(number)}
                yield {"at": entry.at_ms, "event": event}
            else:
                yield {"at": entry.at_ms, "topics": entry.topics}
        yield {"at": end_ms}

    def answers(self) -> list[Json]:
        """The broker's answers as replay-events prints them."""
        return [
            {
                "kind": "response",
                "correlationId": _correlation(number),
                "api": entry.event["api"],
                "version": entry.event["version"],
                "groupId": group_of(entry.event["body"]),
                "body": entry.answer,
            }
            for number, entry in enumerate(self.entries)
            if isinstance(entry, Exchange) and entry.answer is not None
        ]

    def expressions(self, group: str) -> set[str]:
        """The regular expressions by which members of the group subscribe."""
        found = {}
        for heartbeat in self._heartbeats():
            body = heartbeat.event["body"]
            if body["groupId"] == group and body["subscribedTopicRegex"] is not None:
                found[body["memberId"]] = body["subscribedTopicRegex"]
            if body["memberEpoch"] < 0:
                found.pop(body["memberId"], None)
        return {expression for expression in found.values() if expression}

    def epochs(self, client_id: str) -> list[int]:
        """The member epochs that this client has said in its heartbeats."""
        return [one.event["body"]["memberEpoch"] for one in self._heartbeats_of(client_id)]

    def first_heard_s(self, client_id: str) -> float:
        """When the broker was told this client's first heartbeat, by the monotonic clock."""
        return next(self._heartbeats_of(client_id)).at_ms / 1000

    def _heartbeats_of(self, client_id: str) -> Iterator[Exchange]:
        return (one for one in self._heartbeats() if one.event["clientId"] == client_id)

    def _heartbeats(self) -> Iterator[Exchange]:
        for entry in self.entries:
            if isinstance(entry, Exchange) and entry.event["api"] == "ConsumerGroupHeartbeat":
                yield entry

    def made_ids(self) -> Mapping[int, str]:
        """The uuid texts of the ids that the broker made up, by the number of the line, from 1."""
        found = {
            number: entry.made_id
            for number, entry in enumerate(self.entries, 1)
            if isinstance(entry, Exchange)
        }
        return {number: made for number, made in found.items() if made is not None}


def group_of(body: Json) -> str:
    """The group that a request is about: the first one where there is a list."""
    if "groupId" in body:
        return str(body["groupId"])
    if "resources" in body:
        return str(body["resources"][0]["resourceName"])
    groups: Any = body["groups"]
    return str(groups[0]["groupId"])


def _correlation(number: int) -> str:
    return f"{number:05}"


def _uuid_text(member_id: str) -> str:
    """The uuid of "rdkafka-527a3d58-122f-46b3-be91-88aca1ace7e5", or of the 22 characters that a consumer group makes."""
    text = member_id[-_UUID_TEXT:]
    if len(text) == _UUID_TEXT:
        return text
    return str(UUID(bytes=urlsafe_b64decode(f"{member_id}==")))
