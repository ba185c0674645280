"""Groups of many offsets and of many members, and the events whose cost growth.py measures."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member, Protocol
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ConsumerMember,
    CurrentAssignment,
    MemberState,
    SubscriptionMetadata,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.timers import SYNC_TIMER, Timer, session_timer
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.topics.hash import group_hash, topic_hash

GROUP_ID = "g"
NOW_MS = 1_767_225_600_000
OFFSETS = (1_000, 10_000, 100_000)
MEMBERS = (100, 1_000, 10_000)
TOPICS = 100
PARTITIONS_OF_A_MEMBER = 10

_SESSION_MS = 45_000
_PATIENCE_MS = 300_000
_USER_DATA = b"\x00" * 40
"""In place of what a cooperative-sticky consumer says of its partitions."""


class Sent(NamedTuple):
    """Events in JSON, of which the last one is measured; the others bring the group to it."""

    name: str
    events: tuple[bytes, ...]
    answer_grows: bool = False


class GrownGroup(NamedTuple):
    """A group, how large it is, and what is sent to it."""

    kind: str
    size: int
    group: Group
    events: tuple[Sent, ...]


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
            yield _of_consumers(size)


def _host(number: int) -> str:
    return f"/10.0.{number // 256}.{number % 256}"


def _event(api: str, version: int, *, client_host: str = "/10.0.0.7", **body: Any) -> bytes:
    event = {
        "api": api,
        "version": version,
        "correlationId": "c-1",
        "clientId": "billing",
        "clientHost": client_host,
        "principal": "User:billing",
        "body": body,
    }
    return json.dumps(event, separators=(",", ":")).encode()


# Offsets.


def _of_offsets(size: int, topics: int) -> GrownGroup:
    each = size // topics
    group = Group(GROUP_ID, ClassicGroup(state_timestamp_ms=NOW_MS - 10_000), clock_ms=NOW_MS - 1)
    for topic in range(topics):
        for partition in range(each):
            at_ms = NOW_MS - 1 - partition % 1_000
            offset = CommittedOffset(123_456_789 + partition, None, "", at_ms, None, None)
            group.store_offset(_name(topic), partition, offset)
    name, partition = _name(topics // 2), each // 2
    committed = {"partitionIndex": partition, "committedOffset": 8}
    commit = _event(
        "OffsetCommit",
        8,
        groupId=GROUP_ID,
        generationIdOrMemberEpoch=-1,
        memberId="",
        topics=[{"name": name, "partitions": [committed]}],
    )
    fetched = {"groupId": GROUP_ID, "topics": [{"name": name, "partitionIndexes": [partition]}]}
    fetch = _event("OffsetFetch", 8, groups=[fetched], requireStable=False)
    kind = "offsets in 1 topic" if topics == 1 else f"offsets in {topics} topics"
    return GrownGroup(
        kind, size, group, (Sent("OffsetCommit", (commit,)), Sent("OffsetFetch", (fetch,)))
    )


def _name(topic: int) -> str:
    return f"a-topic-of-some-length-{topic}"


# The classic protocol.


def _member_id(number: int) -> str:
    return f"billing-{number:08x}-aaaa-bbbb-cccc-{number:012x}"


def _protocols(number: int) -> tuple[Protocol, ...]:
    topics = tuple(sorted(_name(topic) for topic in range(3)))
    names = b"".join(len(name).to_bytes(2) + name.encode() for name in topics)
    data = _USER_DATA + number.to_bytes(4)
    metadata = b"\x00\x01" + len(topics).to_bytes(4) + names + len(data).to_bytes(4) + data
    return tuple(Protocol(name, metadata + b"\x00" * 4) for name in ("range", "cooperative-sticky"))


def _membership(size: int, state: ClassicState) -> ClassicGroup:
    ids = [_member_id(number) for number in range(size)]
    members = {
        member_id: Member(
            member_id,
            None,
            "billing",
            _host(number),
            _PATIENCE_MS,
            _SESSION_MS,
            _protocols(number),
            encode_assignment({_name(0): range(number, number + 10)}),
        )
        for number, member_id in enumerate(ids)
    }
    timers = {
        session_timer(member_id): Timer(
            NOW_MS - number % 3_000 + _SESSION_MS, NOW_MS - number % 3_000
        )
        for number, member_id in reversed(list(enumerate(ids)))
    }
    return ClassicGroup(
        state,
        ClassicState.PREPARING_REBALANCE,
        NOW_MS - 10_000,
        7,
        "consumer",
        "range",
        ids[0],
        frozenset(_name(topic) for topic in range(3)),
        members,
        timers=timers,
    )


def _stable(size: int) -> GrownGroup:
    group = Group(GROUP_ID, _membership(size, ClassicState.STABLE), clock_ms=NOW_MS - 1)
    last = _member_id(size - 1)
    new = _member_id(size)
    group.membership.pending_joins.add(new)
    beat = _classic_event("Heartbeat", 4, last)
    leave = _event("LeaveGroup", 5, groupId=GROUP_ID, members=[{"memberId": last}])
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
    )


def _syncing(size: int) -> GrownGroup:
    membership = _membership(size, ClassicState.COMPLETING_REBALANCE)
    membership.timers[SYNC_TIMER] = Timer(NOW_MS + _PATIENCE_MS, NOW_MS - 1)
    membership.pending_syncs.update(membership.members)
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
    )


def _classic_event(api: str, version: int, member_id: str, **body: Any) -> bytes:
    return _event(api, version, groupId=GROUP_ID, generationId=7, memberId=member_id, **body)


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
    return _event(
        "JoinGroup",
        9,
        groupId=GROUP_ID,
        memberId=member_id,
        sessionTimeoutMs=_SESSION_MS,
        rebalanceTimeoutMs=_PATIENCE_MS,
        protocolType="consumer",
        protocols=[{"name": p.name, "metadata": _base64(p.metadata)} for p in protocols],
    )


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


# The consumer protocol.


def _topic_id(topic: int) -> str:
    return f"{topic:020d}AA"


def _of_consumers(size: int) -> GrownGroup:
    """Each member has ten partitions; the middle one has yet to give one of them back."""
    topics = {
        _name(topic): Topic(_name(topic), _topic_id(topic), size * PARTITIONS_OF_A_MEMBER // TOPICS)
        for topic in range(TOPICS)
    }
    names = tuple(sorted(topics))
    hash_ = group_hash({name: topic_hash(topic) for name, topic in topics.items()})
    membership = ConsumerGroup(
        9, hash_, 9, NOW_MS - 10_000, metadata_deadline_ms=NOW_MS + _PATIENCE_MS
    )
    for number in range(size):
        _put_consumer(membership, number, size, names)
    group = Group(
        GROUP_ID,
        membership,
        topics=topics,
        clock_ms=NOW_MS - 1,
        topics_version=1,
        new_topics_version=1,
    )
    giving = size // 2
    topic, partitions = _held(giving, size)
    owned = [{"topicId": _topic_id(topic), "partitions": partitions[:-1]}]
    return GrownGroup(
        "consumers",
        size,
        group,
        (
            Sent("ConsumerGroupHeartbeat, no change", (_beat(size - 1, 9),)),
            Sent("ConsumerGroupHeartbeat, gives back", (_beat(giving, 8, owned),)),
            Sent("ConsumerGroupHeartbeat, gets more", (_beat(giving, 8, owned), _beat(0, 8))),
        ),
    )


def _held(number: int, size: int) -> tuple[int, list[int]]:
    members_of_a_topic = max(1, size // TOPICS)
    topic, place = divmod(number, members_of_a_topic)
    first = place * PARTITIONS_OF_A_MEMBER
    return topic, list(range(first, first + PARTITIONS_OF_A_MEMBER))


def _put_consumer(
    membership: ConsumerGroup, number: int, size: int, names: tuple[str, ...]
) -> None:
    member_id = f"{number:020d}AA"
    topic, partitions = _held(number, size)
    held = {_topic_id(topic): dict.fromkeys(partitions, 8)}
    target = {_topic_id(topic): tuple(partitions)}
    current = CurrentAssignment(9, 8, MemberState.STABLE, held, {})
    if number == size // 2:
        *kept, given_back = partitions
        held = {_topic_id(topic): dict.fromkeys(kept, 8)}
        target = {_topic_id(topic): tuple(kept)}
        owed = {_topic_id(topic): {given_back: 8}}
        current = CurrentAssignment(8, 7, MemberState.UNREVOKED_PARTITIONS, held, owed)
    if number == 0:
        other, its_partitions = _held(size // 2, size)
        target = {**target, _topic_id(other): (its_partitions[-1],)}
        if other == topic:
            target = {_topic_id(topic): (*partitions, its_partitions[-1])}
        current = CurrentAssignment(8, 7, MemberState.STABLE, held, {})
    metadata = SubscriptionMetadata(
        None, None, "billing", _host(number), names, None, _PATIENCE_MS, None, None
    )
    membership.put(ConsumerMember(member_id, metadata, current))
    membership.targets[member_id] = target
    since_ms = NOW_MS - number % 5_000
    membership.timers[session_timer(member_id)] = Timer(since_ms + _SESSION_MS, since_ms)


def _beat(number: int, epoch: int, owned: Any = None) -> bytes:
    return _event(
        "ConsumerGroupHeartbeat",
        1,
        client_host=_host(number),
        groupId=GROUP_ID,
        memberId=f"{number:020d}AA",
        memberEpoch=epoch,
        topicPartitions=owned,
    )
