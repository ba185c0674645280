"""Random lives of one group: events with delays drawn from the boundaries of every timer in play."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, field

from hypothesis import strategies as st

from group_coordinator.codecs.consumer_protocol import encode_subscription
from group_coordinator.member_ids import fresh_id
from group_coordinator.streaming.update_group import EventRow

TOPIC = "group-events"
SESSION_MS, REBALANCE_MS, DELAY_MS, SWEEP_MS, RETENTION_MS = 10_000, 20_000, 3_000, 30_000, 60_000
DELAYS_MS = st.sampled_from(
    [
        0,
        1,
        *(
            edge
            for timeout_ms in (DELAY_MS, SESSION_MS, REBALANCE_MS, SWEEP_MS, RETENTION_MS)
            for edge in (timeout_ms - 1, timeout_ms, timeout_ms + 1)
        ),
    ]
)
CLIENTS = st.sampled_from(["a", "b", "c", "d"])
TOPICS = st.sampled_from(["orders", "refunds"])
PARTITIONS = st.integers(0, 1)
GENERATIONS = st.integers(-1, 4)
KINDS = st.sampled_from(
    [
        *("join", "join", "sync", "sync", "heartbeat", "leave", "commit", "commit"),
        *("delete offset", "delete group", "fetch"),
    ]
)
Body = dict[str, object]


@dataclass
class Script:
    """Events in order, and the member ids that the joins among them made or will make."""

    rows: list[EventRow] = field(default_factory=list)
    member_ids: list[str] = field(default_factory=list)
    now_ms: int = 1_000_000

    def add(self, delay_ms: int, api: str, version: int, body: Body, client: str) -> None:
        self.now_ms += delay_ms
        offset = len(self.rows)
        event = {
            "api": api,
            "version": version,
            "correlationId": f"c-{offset}",
            "clientId": client,
            "clientHost": "/127.0.0.1",
            "body": body if api == "DeleteGroups" else {"groupId": "g", **body},
        }
        if api == "JoinGroup" and body["memberId"] == "":
            prefix = body.get("groupInstanceId") or client
            self.member_ids.append(f"{prefix}-{fresh_id(f'{TOPIC}-0-{offset}')}")
        self.rows.append(EventRow(self.now_ms, 0, offset, None, json.dumps(event).encode()))


Request = tuple[str, int, Body]


def _join(draw: st.DrawFn, member_id: str) -> Request:
    instance_id = draw(st.sampled_from([None, None, None, "i"]))
    topics = draw(st.sampled_from([["orders"], ["orders", "refunds"], ["refunds"]]))
    subscription = b64encode(encode_subscription(topics)).decode()
    names = draw(st.sampled_from([["range"], ["range", "sticky"], ["sticky", "range"]]))
    body: Body = {
        "sessionTimeoutMs": SESSION_MS,
        "rebalanceTimeoutMs": REBALANCE_MS,
        "memberId": member_id,
        "protocolType": "consumer",
        "protocols": [{"name": name, "metadata": subscription} for name in names],
    }
    if instance_id is not None:
        return "JoinGroup", draw(st.sampled_from([5, 9])), body | {"groupInstanceId": instance_id}
    return "JoinGroup", draw(st.sampled_from([3, 5, 9])), body


def _sync(draw: st.DrawFn, member_id: str, script: Script) -> Request:
    assignments = [{"memberId": known, "assignment": "AAE="} for known in script.member_ids[-2:]]
    body = {"generationId": draw(GENERATIONS), "memberId": member_id, "assignments": assignments}
    return "SyncGroup", 3, body


def _commit(draw: st.DrawFn, member_id: str) -> Request:
    if draw(st.booleans()):
        retention_ms = draw(st.sampled_from([-1, 0, 1, RETENTION_MS]))
        return "OffsetCommit", 3, {"retentionTimeMs": retention_ms, "topics": [_offset(draw)]}
    sender = {"generationIdOrMemberEpoch": draw(GENERATIONS), "memberId": member_id}
    return "OffsetCommit", 8, sender | {"topics": [_offset(draw)]}


def _offset(draw: st.DrawFn) -> Body:
    partition = {"partitionIndex": draw(PARTITIONS), "committedOffset": 7}
    return {"name": draw(TOPICS), "partitions": [partition]}


def _delete_offset(draw: st.DrawFn) -> Request:
    topic = {"name": draw(TOPICS), "partitions": [{"partitionIndex": draw(PARTITIONS)}]}
    return "OffsetDelete", 0, {"topics": [topic]}


def _request(draw: st.DrawFn, script: Script) -> Request:
    """One request; member ids and generations are mostly plausible, so that stories get somewhere."""
    member_id = draw(st.sampled_from(["", *script.member_ids[-4:]]))
    match draw(KINDS):
        case "join":
            return _join(draw, member_id)
        case "sync":
            return _sync(draw, member_id, script)
        case "heartbeat":
            return "Heartbeat", 3, {"generationId": draw(GENERATIONS), "memberId": member_id}
        case "leave":
            return "LeaveGroup", 3, {"members": [{"memberId": member_id}]}
        case "commit":
            return _commit(draw, member_id)
        case "delete offset":
            return _delete_offset(draw)
        case "delete group":
            return "DeleteGroups", 1, {"groupsNames": ["g"]}
        case _:
            return "OffsetFetch", 5, {"groupId": "g", "topics": None}


@st.composite
def scripts(draw: st.DrawFn, max_events: int = 40) -> Script:
    """A life of group `g`."""
    script = Script()
    for _ in range(draw(st.integers(1, max_events))):
        api, version, body = _request(draw, script)
        script.add(draw(DELAYS_MS), api, version, body, draw(CLIENTS))
    return script
