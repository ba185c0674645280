"""Random lives of one group: events with delays drawn from the boundaries of every timer in play."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from group_coordinator import settings
from group_coordinator.codecs import snapshots
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.event_handling import fresh_id
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.support.group_updates import updated

TOPIC = "group-events"
SESSION_MS, REBALANCE_MS, DELAY_MS, SWEEP_MS, RETENTION_MS = 10_000, 20_000, 3_000, 30_000, 60_000
SLACK_MS = 1_000
BOUNDARIES_MS = [
    edge
    for timeout_ms in (DELAY_MS, SESSION_MS, REBALANCE_MS, SWEEP_MS, RETENTION_MS)
    for edge in (timeout_ms - 1, timeout_ms, timeout_ms + 1)
]
DELAYS_MS = st.one_of(
    st.sampled_from([0, 1, DELAY_MS]), st.sampled_from([0, 1]), st.sampled_from(BOUNDARIES_MS)
)
CONFIG = settings.load(
    overrides=[
        f"offsets.retention.ms={RETENTION_MS}",
        f"offsets.retention.check.interval.ms={SWEEP_MS}",
        f"group.initial.rebalance.delay.ms={DELAY_MS}",
        "group.max.size=3",
    ]
).coordinator
CONTEXT = UpdateContext(CONFIG, TOPIC, timer_slack_ms=SLACK_MS, timers_suspended=False)
CLIENTS = st.sampled_from(["a", "b", "c", "d"])
TOPICS = st.sampled_from(["orders", "refunds"])
PARTITIONS = st.integers(0, 1)
PRODUCERS = st.integers(17, 18)
PLACES = st.none() | st.integers(0, 3)
"""In the log that has the markers."""
NAMES_THE_GROUP_ITSELF = ("DeleteGroups", "IncrementalAlterConfigs")
Body = dict[str, object]


@dataclass
class Script:
    """Events in order; the group that they lead to says which members and generations make sense next."""

    rows: list[EventRow] = field(default_factory=list)
    past_member_ids: list[str] = field(default_factory=list)
    now_ms: int = 1_000_000
    state: bytes | None = None

    @property
    def membership(self) -> ClassicGroup:
        group = snapshots.load("g", self.state) if self.state else Group("g")
        return group.membership or ClassicGroup()

    def member_ids(self) -> st.SearchStrategy[str]:
        """Mostly of members and of those who were asked to come back, sometimes none or a gone one."""
        present = sorted({*self.membership.members, *self.membership.pending_joins})
        return st.sampled_from(["", *self.past_member_ids[-1:], *present, *present])

    def generations(self) -> st.SearchStrategy[int]:
        """Mostly the group's own."""
        current = self.membership.generation
        return st.sampled_from([current, current, current, current, current + 1, current - 1, -1])

    def add(self, delay_ms: int, api: str, version: int, body: Body, client: str) -> None:
        self.now_ms += delay_ms
        offset = len(self.rows)
        event = {
            "api": api,
            "version": version,
            "correlationId": f"c-{offset}",
            "clientId": client,
            "clientHost": "/127.0.0.1",
            "body": body if api in NAMES_THE_GROUP_ITSELF else {"groupId": "g", **body},
        }
        if api == "JoinGroup" and body["memberId"] == "":
            prefix = body.get("groupInstanceId") or client
            self.past_member_ids.append(f"{prefix}-{fresh_id(f'{TOPIC}-0-{offset}')}")
        row = EventRow(self.now_ms, 0, offset, None, json.dumps(event).encode())
        self.rows.append(row)
        self.state = updated("g", self.state, [row], self.now_ms, CONTEXT).state


Request = tuple[str, int, Body]


def _join(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
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
    assignments = [{"memberId": known, "assignment": "AAE="} for known in script.membership.members]
    body = {
        "generationId": draw(script.generations()),
        "memberId": member_id,
        "assignments": assignments,
    }
    return "SyncGroup", 3, body


def _heartbeat(draw: st.DrawFn, member_id: str, script: Script) -> Request:
    return "Heartbeat", 3, {"generationId": draw(script.generations()), "memberId": member_id}


def _leave(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    return "LeaveGroup", 3, {"members": [{"memberId": member_id}]}


def _commit(draw: st.DrawFn, member_id: str, script: Script) -> Request:
    sender = {"generationIdOrMemberEpoch": draw(script.generations()), "memberId": member_id}
    return "OffsetCommit", 8, sender | {"topics": [_offset(draw)]}


def _simple_commit(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    retention_ms = draw(st.sampled_from([-1, 0, 1, RETENTION_MS]))
    return "OffsetCommit", 3, {"retentionTimeMs": retention_ms, "topics": [_offset(draw)]}


def _offset(draw: st.DrawFn) -> Body:
    partition = {"partitionIndex": draw(PARTITIONS), "committedOffset": 7}
    return {"name": draw(TOPICS), "partitions": [partition]}


def _txn_commit(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    said = {"producerId": draw(PRODUCERS), "producerEpoch": draw(st.integers(0, 1))}
    return (
        "TxnOffsetCommit",
        3,
        said | {"markersEndOffset": draw(PLACES), "topics": [_offset(draw)]},
    )


def _end_txn(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    said = {"producerId": draw(PRODUCERS), "producerEpoch": draw(st.integers(0, 1))}
    return "EndTxn", 0, said | {"committed": draw(st.booleans()), "markerOffset": draw(PLACES)}


def _delete_offset(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    topic = {"name": draw(TOPICS), "partitions": [{"partitionIndex": draw(PARTITIONS)}]}
    return "OffsetDelete", 0, {"topics": [topic]}


def _delete_group(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    return "DeleteGroups", 1, {"groupsNames": ["g"]}


def _fetch(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    return "OffsetFetch", 5, {"groupId": "g", "topics": None}


def retain(value: str) -> Request:
    """Give the group a retention of its own."""
    change = {"name": "offsets.retention.ms", "configOperation": 0, "value": value}
    resource = {"resourceType": 32, "resourceName": "g", "configs": [change]}
    return "IncrementalAlterConfigs", 1, {"resources": [resource]}


def _retain(draw: st.DrawFn, member_id: str, script: Script) -> Request:  # noqa: ARG001
    return retain(draw(st.sampled_from(["-1", "1", str(SWEEP_MS), str(2 * RETENTION_MS)])))


def _as_a_client_would(draw: st.DrawFn, member_id: str, script: Script) -> Request:
    """What a well-behaved member sends next."""
    group = script.membership
    if group.pending_joins:
        return _join(draw, min(group.pending_joins), script)
    if group.state is ClassicState.COMPLETING_REBALANCE:
        return _sync(draw, group.leader or "", script)
    if group.state is ClassicState.STABLE:
        return draw(st.sampled_from([_commit, _heartbeat, _sync]))(draw, member_id, script)
    return _join(draw, member_id, script)


_OF_CLIENTS = [
    *(_join, _sync, _heartbeat, _leave, _commit),
    *(_simple_commit, _delete_offset, _delete_group, _fetch),
    *(_txn_commit, _end_txn),
]
REQUESTS_OF_CLIENTS = st.one_of(st.just(_as_a_client_would), st.sampled_from(_OF_CLIENTS))
REQUESTS = st.one_of(st.just(_as_a_client_would), st.sampled_from([*_OF_CLIENTS, _retain]))
"""Those of clients, and an administrator's."""
AnyRequest = Callable[[st.DrawFn, str, Script], Request]


@st.composite
def scripts(
    draw: st.DrawFn, max_events: int = 40, requests: st.SearchStrategy[AnyRequest] = REQUESTS
) -> Script:
    """A life of group `g`: member ids and generations are mostly plausible, so that stories get somewhere."""
    script = Script()
    for _ in range(draw(st.integers(1, max_events))):
        member_id = draw(script.member_ids())
        api, version, body = draw(requests)(draw, member_id, script)
        script.add(draw(DELAYS_MS), api, version, body, draw(CLIENTS))
    return script
