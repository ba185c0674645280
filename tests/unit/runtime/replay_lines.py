"""A conversation with replay-events: what is said to it, and what it may say."""

from __future__ import annotations

import json
from typing import Any

from group_coordinator.runtime.replay_session import Replay
from group_coordinator.settings import load

Json = dict[str, Any]

DONE = {"kind": "done"}
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def replay(*overrides: str) -> Replay:
    return Replay(load(overrides=overrides).coordinator)


def say(conversation: Replay, line: Json) -> list[Json]:
    *outputs, last = conversation.line(json.dumps(line))
    assert last == DONE
    assert json.loads(json.dumps(outputs)) == outputs
    return outputs


def event(api: str, version: int, correlation_id: str | None = None, **body: object) -> Json:
    return {
        "api": api,
        "version": version,
        "correlationId": correlation_id,
        "clientId": "billing",
        "clientHost": "/10.0.0.7",
        "body": body,
    }


def commit(group_id: str, offset: int = 42, correlation_id: str | None = None) -> Json:
    partition = {"partitionIndex": 0, "committedOffset": offset}
    topics = [{"name": "orders", "partitions": [partition]}]
    return event("OffsetCommit", 8, correlation_id, groupId=group_id, topics=topics)


def join(group_id: str, member_id: str = "", correlation_id: str | None = None) -> Json:
    return event(
        "JoinGroup",
        4,
        correlation_id,
        groupId=group_id,
        memberId=member_id,
        sessionTimeoutMs=10_000,
        rebalanceTimeoutMs=60_000,
        protocolType="consumer",
        protocols=[{"name": "range", "metadata": "AAAAAAABAAZvcmRlcnP/////"}],
    )


def tombstone(group_id: str, at_ms: int, reason: str) -> Json:
    key = {"type": 1, "data": {"group": group_id, "topic": "orders", "partition": 0}}
    return {
        "kind": "record",
        "groupId": group_id,
        "at": at_ms,
        "reason": reason,
        "key": key,
        "value": None,
    }


def topics(at_ms: int, **ids: str) -> Json:
    known = [
        {"name": name, "topicId": topic_id, "numPartitions": 1} for name, topic_id in ids.items()
    ]
    return {"at": at_ms, "topics": known}
