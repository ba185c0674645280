"""What a client asks the coordinator: one API call for one group, of which the channel makes one event."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol, TypeAlias

from msgspec import json

Body: TypeAlias = dict[str, Any]
"""The body of an event or of a response, with Kafka's own field names."""


class Request(NamedTuple):
    """One API call for one group; `body` has Kafka's request fields of that version."""

    api: str
    version: int
    group_id: str
    body: Mapping[str, Any]
    client_id: str | None = None
    """None: the channel's own."""

    def event(
        self, correlation_id: str, reply_partition: int | None, client_host: str, principal: str
    ) -> bytes:
        """The value of its record in the events topic; the key is the group id."""
        return json.encode(
            {
                "api": self.api,
                "version": self.version,
                "correlationId": correlation_id,
                "replyPartition": reply_partition,
                "clientId": self.client_id,
                "clientHost": client_host,
                "principal": principal,
                "body": self.body,
            }
        )

    def __str__(self) -> str:
        return f"{self.api} v{self.version} for group {self.group_id!r}"


class Channel(Protocol):
    """What members and admin clients need of a RequestChannel."""

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request."""
        ...
