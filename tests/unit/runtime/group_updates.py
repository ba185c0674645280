"""Calls that update a group with the usual events, and what is read from their results."""

from __future__ import annotations

import json
from typing import Any

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import GroupUpdate, UpdateContext
from tests.support.group_updates import lines_of, update_context, updated

Json = dict[str, Any]

CONTEXT = update_context("offsets.retention.ms=60000", "offsets.retention.check.interval.ms=1000")
COMMIT: Json = {
    "api": "OffsetCommit",
    "version": 8,
    "correlationId": "c-1",
    "principal": "User:billing",
    "body": {
        "groupId": "g",
        "topics": [
            {"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}
        ],
    },
}
DELETE: Json = {"api": "DeleteGroups", "version": 1, "body": {"groupsNames": ["g"]}}
FETCH: Json = {
    "api": "OffsetFetch",
    "version": 7,
    "correlationId": "c-2",
    "body": {"groupId": "g", "topics": None},
}
JOIN: Json = {
    "api": "JoinGroup",
    "version": 3,
    "correlationId": "c-3",
    "clientId": "billing",
    "body": {
        "groupId": "g",
        "memberId": "",
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 60_000,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": "AAAAAAABAAZvcmRlcnP/////"}],
    },
}
MEMBER_ID = "billing-d87c5322-92ef-5b61-9b1a-34c3daf23e5b"


def row(
    event: Json | bytes | None, at_ms: int, offset: int = 0, key_fault: str | None = None
) -> EventRow:
    value = json.dumps(event).encode() if isinstance(event, dict) else event
    return EventRow(at_ms, 3, offset, key_fault, value)


def call(
    *rows: EventRow, at_ms: int, state: bytes | None = None, context: UpdateContext = CONTEXT
) -> GroupUpdate:
    return updated("g", state, rows, at_ms, context)


def lines(update: GroupUpdate) -> list[tuple[str, Json]]:
    return [(line[0], json.loads(line[1:])) for line in lines_of(update)]


def tags(update: GroupUpdate) -> str:
    return "".join(line[0] for line in lines_of(update))


def group_of(update: GroupUpdate) -> Group:
    assert update.state is not None
    return snapshots.load("g", update.state)


def committed() -> GroupUpdate:
    """A simple group since 1,000, whose offset expires at 61,000."""
    return call(row(COMMIT, 1_000), at_ms=1_500)


def stable() -> GroupUpdate:
    """A group of one member since 3,000, whose session ends at 13,000."""
    sync = {
        "api": "SyncGroup",
        "version": 3,
        "body": {"groupId": "g", "generationId": 1, "memberId": MEMBER_ID, "assignments": []},
    }
    return call(row(JOIN, 0, 0), row(sync, 3_000, 1), at_ms=3_000)


def alive(at_ms: int, offset: int = 2) -> EventRow:
    body = {"groupId": "g", "generationId": 1, "memberId": MEMBER_ID}
    event = {"api": "Heartbeat", "version": 3, "correlationId": "c-4", "body": body}
    return row(event, at_ms, offset)
