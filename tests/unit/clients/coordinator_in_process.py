"""The whole state machine behind a channel, without Kafka and without Spark, and with a clock moved by hand."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from msgspec import json

from group_coordinator import settings
from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import RequestTimedOutError
from group_coordinator.runtime.outputs import EventRow, LogRow, ResponseRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.support.group_history import log_row
from tests.support.group_updates import updated

START_MS = 1_700_000_000_000


class CoordinatorInProcess:
    """Answers as the job would, at once; `sleep` lets sessions lapse and rebalances end."""

    def __init__(self, **overrides: Any) -> None:
        self.config = replace(settings.load().coordinator, **overrides)
        self._context = UpdateContext(
            self.config, "group-events", timer_slack_ms=0, timers_suspended=False
        )
        self._groups: dict[str, bytes | None] = {}
        self._waiting: dict[str, Future[Body]] = {}
        self._now_ms = START_MS
        self._batches = 0
        self.cluster_id = "test"
        self.principal = "User:test"
        self.rows: list[dict[str, Any]] = []
        """Of coordinator_log."""
        self.events: list[Mapping[str, Any]] = []
        self.is_silent = False
        """Whether requests get lost; each future then waits for `lose_all`."""

    def clock(self) -> float:
        return self._now_ms / 1000

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        assert timeout_ms is None or timeout_ms > 0
        correlation_id = f"c-{len(self.events)}"
        event = {
            "api": request.api,
            "version": request.version,
            "correlationId": correlation_id,
            "clientId": request.client_id,
            "clientHost": "/127.0.0.1",
            "principal": self.principal,
            "body": request.body,
        }
        self.events.append(event)
        reply: Future[Body] = Future()
        self._waiting[correlation_id] = reply
        if not self.is_silent:
            row = EventRow(self._now_ms, 0, len(self.events), None, json.encode(event))
            self._update(request.group_id, [row])
        return reply

    def tell_topics(self, group_id: str, topics: Mapping[str, tuple[str, int]]) -> None:
        """What the group may know of the cluster's topics: ids and numbers of partitions, by name."""
        body = {
            "groupId": group_id,
            "topics": [
                {"name": name, "topicId": topic_id, "numPartitions": count}
                for name, (topic_id, count) in topics.items()
            ],
        }
        event = {"api": "TopicMetadata", "version": 0, "correlationId": None, "body": body}
        self._update(group_id, [EventRow(self._now_ms, 0, 0, None, json.encode(event))])

    def sleep(self, milliseconds: int) -> None:
        self._now_ms += milliseconds
        for group_id in self._groups:
            self._update(group_id, [])

    def lose_all(self) -> None:
        for reply in self._waiting.values():
            reply.set_exception(RequestTimedOutError("lost"))
        self._waiting.clear()

    def _update(self, group_id: str, rows: list[EventRow]) -> None:
        update = updated(group_id, self._groups.get(group_id), rows, self._now_ms, self._context)
        self._groups[group_id] = update.state
        self._batches += 1
        for output in [output for piece in update.pieces for output in piece.outputs]:
            match output:
                case ResponseRow():
                    response = json.decode(output.value)
                    self._waiting.pop(response["correlationId"]).set_result(response["body"])
                case LogRow():
                    self.rows.append(log_row(output, self.cluster_id, self._batches))
