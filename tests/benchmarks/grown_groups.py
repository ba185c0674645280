"""Groups of many offsets and of many members, and the events whose cost growth.py measures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState, Protocol
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import SYNC_TIMER, Timer, Timers, session_timer
from group_coordinator.core.model.topic_offsets import CommittedOffset
from tests.benchmarks.growing import (
    GROUP_ID,
    MANY,
    NOW_MS,
    PATIENCE_MS,
    SESSION_MS,
    TOPICS,
    GrownGroup,
    Sent,
    event_of,
    host,
    many,
    topic_name,
)
from tests.benchmarks.grown_consumers import of_consumers

OFFSETS = (1_000, 10_000, 100_000)
MEMBERS = (100, 1_000, 10_000)

_USER_DATA = b"\x00" * 40
"""In place of what a cooperative-sticky consumer says of its partitions."""


def groups(largest: int) -> Iterator[GrownGroup]:
    """All kinds of groups, in all sizes up to the largest."""
    for topics in (1, TOPICS):
        for size in OFFSETS:
            if size <= largest:
                yield _of_offsets(size, topics)
    for size in MEMBERS:
        if size <= largest:
            yield _stable(size)
            yield _syncing(size)
            yield of_consumers(size)


# Offsets.


def _of_offsets(size: int, topics: int) -> GrownGroup:
    each = size // topics
    group = Group(GROUP_ID, ClassicGroup(state_timestamp_ms=NOW_MS - 10_000), clock_ms=NOW_MS - 1)
    for topic in range(topics):
        for partition in range(each):
            at_ms = NOW_MS - 1 - partition % 1_000
            offset = CommittedOffset(
                offset=123_456_789 + partition,
                leader_epoch=None,
                metadata="",
                commit_timestamp_ms=at_ms,
                expire_timestamp_ms=None,
                topic_id=None,
            )
            group.store_offset(topic_name(topic), partition, offset)
    name, partition = topic_name(topics // 2), each // 2
    committed = {"partitionIndex": partition, "committedOffset": 8}
    commit = event_of(
        "OffsetCommit",
        8,
        groupId=GROUP_ID,
        generationIdOrMemberEpoch=-1,
        memberId="",
        topics=[{"name": name, "partitions": [committed]}],
    )
    fetched = {"groupId": GROUP_ID, "topics": [{"name": name, "partitionIndexes": [partition]}]}
    fetch = event_of("OffsetFetch", 8, groups=[fetched], requireStable=False)
    kind = "offsets in 1 topic" if topics == 1 else f"offsets in {topics} topics"
    in_transaction = event_of(
        "TxnOffsetCommit",
        3,
        groupId=GROUP_ID,
        transactionalId="billing",
        producerId=17,
        producerEpoch=0,
        generationId=-1,
        memberId="",
        topics=[{"name": name, "partitions": [committed]}],
    )
    events = (
        Sent("OffsetCommit", (commit,)),
        Sent("OffsetCommit in an open transaction", (in_transaction, commit)),
        Sent("OffsetFetch", (fetch,)),
        Sent("TxnOffsetCommit", (in_transaction,)),
    )
    return GrownGroup(kind, size, group, events, (Sent("OffsetCommit", (commit,) * MANY),))


# The classic protocol.


def _member_id(number: int) -> str:
    return f"billing-{number:08x}-aaaa-bbbb-cccc-{number:012x}"


def _protocols(number: int) -> tuple[Protocol, ...]:
    topics = tuple(sorted(topic_name(topic) for topic in range(3)))
    names = b"".join(len(name).to_bytes(2) + name.encode() for name in topics)
    data = _USER_DATA + number.to_bytes(4)
    metadata = b"\x00\x01" + len(topics).to_bytes(4) + names + len(data).to_bytes(4) + data
    return tuple(Protocol(name, metadata + b"\x00" * 4) for name in ("range", "cooperative-sticky"))


def _membership(size: int, state: ClassicState) -> ClassicGroup:
    ids = [_member_id(number) for number in range(size)]
    members = StoredValues.of(
        {
            member_id: ClassicMember(
                member_id=member_id,
                group_instance_id=None,
                client_id="billing",
                client_host=host(number),
                rebalance_timeout_ms=PATIENCE_MS,
                session_timeout_ms=SESSION_MS,
                protocols=_protocols(number),
                assignment=encode_assignment({topic_name(0): range(number, number + 10)}),
            )
            for number, member_id in enumerate(ids)
        }
    )
    timers = Timers(
        {
            session_timer(member_id): Timer(
                NOW_MS - number % 3_000 + SESSION_MS, NOW_MS - number % 3_000
            )
            for number, member_id in reversed(list(enumerate(ids)))
        }
    )
    return ClassicGroup(
        state=state,
        previous_state=ClassicState.PREPARING_REBALANCE,
        state_timestamp_ms=NOW_MS - 10_000,
        generation=7,
        protocol_type="consumer",
        protocol="range",
        leader=ids[0],
        subscribed_topics=frozenset(topic_name(topic) for topic in range(3)),
        members=members,
        timers=timers,
    )


def _stable(size: int) -> GrownGroup:
    group = Group(GROUP_ID, _membership(size, ClassicState.STABLE), clock_ms=NOW_MS - 1)
    last = _member_id(size - 1)
    new = _member_id(size)
    group.membership.pending_joins.add(new)
    beat = _classic_event("Heartbeat", 4, last)
    leave = event_of("LeaveGroup", 5, groupId=GROUP_ID, members=[{"memberId": last}])
    known_metadata = _protocols(size - 1)
    other_metadata = _protocols(size + 1)
    return GrownGroup(
        "classic members",
        size,
        group,
        (
            Sent("Heartbeat", (beat,)),
            Sent("JoinGroup of a new member", (_join(new, other_metadata),)),
            Sent("JoinGroup of a known one", (_join(last, known_metadata),)),
            Sent("JoinGroup of a known one, anew", (_join(last, other_metadata),)),
            Sent(
                "JoinGroup while all join",
                (_join(new, other_metadata), _join(last, known_metadata)),
            ),
            Sent("SyncGroup of a follower", (_sync(last),)),
            Sent("LeaveGroup", (leave,)),
        ),
        (
            Sent("Heartbeat", many(lambda n: _classic_event("Heartbeat", 4, _member_id(n)))),
            Sent("JoinGroup", many(lambda n: _join(_member_id(n), _protocols(n + size)))),
        ),
    )


def _syncing(size: int) -> GrownGroup:
    membership = _membership(size, ClassicState.COMPLETING_REBALANCE)
    membership.timers[SYNC_TIMER] = Timer(NOW_MS + PATIENCE_MS, NOW_MS - 1)
    membership.pending_syncs |= dict.fromkeys(membership.members)
    group = Group(GROUP_ID, membership, clock_ms=NOW_MS - 1)
    assignments = {  # shorter than real ones, as an event has 1 MiB at most
        member_id: number.to_bytes(12) for number, member_id in enumerate(membership.members)
    }
    return GrownGroup(
        "classic members, syncing",
        size,
        group,
        (
            Sent("SyncGroup of a follower", (_sync(_member_id(size - 1)),)),
            Sent(
                "SyncGroup of the leader", (_sync(_member_id(0), assignments),), answer_grows=True
            ),
        ),
        (Sent("SyncGroup", many(lambda n: _sync(_member_id(n + 1)))),),
    )


def _classic_event(api: str, version: int, member_id: str, **body: Any) -> bytes:
    return event_of(api, version, groupId=GROUP_ID, generationId=7, memberId=member_id, **body)


def _sync(member_id: str, assignments: dict[str, bytes] | None = None) -> bytes:
    given = [
        {"memberId": each, "assignment": _base64(data)}
        for each, data in (assignments or {}).items()
    ]
    return _classic_event(
        "SyncGroup",
        5,
        member_id,
        protocolType="consumer",
        protocolName="range",
        assignments=given,
    )


def _join(member_id: str, protocols: tuple[Protocol, ...]) -> bytes:
    return event_of(
        "JoinGroup",
        9,
        groupId=GROUP_ID,
        memberId=member_id,
        sessionTimeoutMs=SESSION_MS,
        rebalanceTimeoutMs=PATIENCE_MS,
        protocolType="consumer",
        protocols=[{"name": p.name, "metadata": _base64(p.metadata)} for p in protocols],
    )


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
