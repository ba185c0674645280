"""Snapshots that a released version has written are what the present one reads (tests/golden)."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest
from msgspec import Raw

from group_coordinator.codecs import snapshots
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import (
    ClassicMember,
    ClassicState,
    Protocol,
    ReplyAddress,
)
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    NO_METADATA,
    ConsumerMember,
    CurrentAssignment,
    ReconciliationState,
    ResolvedRegex,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import (
    JOIN_TIMER,
    SYNC_TIMER,
    Timer,
    TimerKey,
    TimerKind,
    Timers,
    session_timer,
)
from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    PendingOffset,
    StoredTopic,
    TopicOffsets,
)
from tests.golden import story
from tests.unit.codecs.offsets_topic.cases import ORDERS_ID, PLAIN

VERSIONS = sorted(story.FILES.glob("snapshots-*.json"))
T = 1_700_000_000_000
TIMEOUT_MS = 1_200_000
SESSION_MS = 45_000
NEW_MEMBER_MS = 300_000
"""How long a member may wait for its first answer."""
LEADER = "client-8a414a41-e4fb-5179-8ad0-7aa8aef2f1d9"
STATIC = "i-e9d5e0e0-d8ab-580a-a785-b27857f3ac0e"
FIRST = "client-06fdc8b5-39cf-5aa1-bd3a-a94f04499c16"
SECOND = "client-eb082266-8768-5eab-8f56-89d7af1deed0"
PENDING = "client-ac6e3ef7-634b-5992-86f7-b9cdba85b0cf"
SYNC_LEADER = "client-bab44627-996c-55fe-8d99-16e90d13a06a"
FOLLOWER = "client-1c78a3d2-524d-5ca8-96bd-4e21d037eeef"


def member(
    member_id: str, assignment: bytes = b"\x00\x01", instance_id: str | None = None
) -> ClassicMember:
    subscription = Protocol("range", encode_subscription(["orders"]))
    return ClassicMember(
        member_id=member_id,
        group_instance_id=instance_id,
        client_id="client",
        client_host="/127.0.0.1",
        rebalance_timeout_ms=TIMEOUT_MS,
        session_timeout_ms=TIMEOUT_MS,
        protocols=(subscription,),
        assignment=assignment,
    )


def by_id(*members: ClassicMember) -> StoredValues[ClassicMember, Raw]:
    return StoredValues.of({each.member_id: each for each in members})


def of_orders(committed: CommittedOffset) -> StoredValues[TopicOffsets, StoredTopic]:
    return StoredValues.of({"orders": TopicOffsets.of({0: committed})})


def timer(armed_ms: int, timeout_ms: int = TIMEOUT_MS) -> Timer:
    return Timer(T + armed_ms + timeout_ms, T + armed_ms)


def offset(number: int, at_ms: int, expires_ms: int | None = None) -> CommittedOffset:
    return PLAIN.replace(
        offset=number, commit_timestamp_ms=T + at_ms, expire_timestamp_ms=expires_ms
    )


def simple(group_id: str, committed: CommittedOffset) -> Group:
    return Group(group_id, ClassicGroup(state_timestamp_ms=T), of_orders(committed), clock_ms=T)


def in_transaction() -> Group:
    group = simple("in-transaction", offset(44, 0))
    group.pending = {("orders", 0): {17: (PendingOffset(offset(45, 1), 1),)}}
    group.clock_ms = T + 1
    return group


def stable() -> Group:
    membership = ClassicGroup(
        state=ClassicState.STABLE,
        previous_state=ClassicState.COMPLETING_REBALANCE,
        state_timestamp_ms=T + 7_000,
        generation=1,
        protocol_type="consumer",
        protocol="range",
        leader=LEADER,
        subscribed_topics=frozenset({"orders"}),
        members=by_id(member(LEADER), member(STATIC, instance_id="i")),
        timers=Timers({session_timer(STATIC): timer(6_000), session_timer(LEADER): timer(8_000)}),
    )
    return Group("stable", membership, of_orders(offset(46, 8_000)), None, T + 8_000)


def left() -> Group:
    membership = ClassicGroup(
        state=ClassicState.EMPTY,
        previous_state=ClassicState.PREPARING_REBALANCE,
        state_timestamp_ms=T + 6_000,
        generation=2,
        protocol_type="consumer",
        subscribed_topics=frozenset(),
    )
    return Group("left", membership, of_orders(offset(47, 5_000)), None, T + 6_000)


def rebalancing() -> Group:
    parked = ReplyAddress("group-events-0-15", "join", 3)
    membership = ClassicGroup(
        state=ClassicState.PREPARING_REBALANCE,
        previous_state=ClassicState.STABLE,
        state_timestamp_ms=T + 5_000,
        generation=1,
        protocol_type="consumer",
        protocol="range",
        leader=FIRST,
        subscribed_topics=frozenset({"orders"}),
        members=by_id(
            member(FIRST), member(SECOND, b"").replace(is_new=True, awaiting_join=parked)
        ),
        pending_joins={PENDING},
        timers=Timers(
            {
                session_timer(FIRST): timer(4_000),
                session_timer(SECOND): timer(5_000, NEW_MEMBER_MS),
                JOIN_TIMER: timer(5_000),
                session_timer(PENDING): timer(6_000),
            }
        ),
    )
    return Group("rebalancing", membership, clock_ms=T + 6_000)


def syncing() -> Group:
    parked = ReplyAddress("group-events-0-19", "sync", 3)
    membership = ClassicGroup(
        state=ClassicState.COMPLETING_REBALANCE,
        previous_state=ClassicState.PREPARING_REBALANCE,
        state_timestamp_ms=T + 6_000,
        generation=1,
        protocol_type="consumer",
        protocol="range",
        leader=SYNC_LEADER,
        subscribed_topics=frozenset({"orders"}),
        members=by_id(
            member(SYNC_LEADER, b""), member(FOLLOWER, b"").replace(awaiting_sync=parked)
        ),
        pending_syncs={SYNC_LEADER: None},
        timers=Timers(
            {
                session_timer(FOLLOWER): timer(6_000),
                session_timer(SYNC_LEADER): timer(6_000),
                SYNC_TIMER: timer(6_000),
            }
        ),
    )
    return Group("syncing", membership, clock_ms=T + 7_000)


def told_of_topics() -> Group:
    topics = {"orders": Topic("orders", ORDERS_ID, 3)}
    return Group(
        "told-of-topics", topics=topics, clock_ms=T, topics_version=1, new_topics_version=1
    )


def of_consumers() -> Group:
    metadata = NO_METADATA.replace(
        group_instance_id="i",
        client_id="client",
        client_host="/127.0.0.1",
        topic_names=("orders",),
        rebalance_timeout_ms=TIMEOUT_MS,
    )
    membership = ConsumerGroup(
        epoch=4,
        metadata_hash=-4193354978451464271,
        assignment_epoch=4,
        assignment_timestamp_ms=T + 3_001,
        member_room=3,
        targets=StoredValues.of({"m1": {ORDERS_ID: (0,)}, "m2": {ORDERS_ID: (1,)}}),
        regexes={"o.*": ResolvedRegex(("orders",), 1, T + 2_001)},
        timers=Timers(
            {
                session_timer("m2"): timer(2_001, SESSION_MS),
                TimerKey(TimerKind.REBALANCE, "m1"): timer(3_001),
                session_timer("m1"): timer(3_001, SESSION_MS),
            }
        ),
        rebalance_epochs={"m1": 2},
        metadata_deadline_ms=T + 2_001 + 2**31 - 1,
    )
    revoking = CurrentAssignment(
        2, 2, ReconciliationState.UNREVOKED_PARTITIONS, {ORDERS_ID: {0: 2}}, {ORDERS_ID: {1: 2}}
    )
    waiting = CurrentAssignment(3, 0, ReconciliationState.UNRELEASED_PARTITIONS, {}, {})
    membership.put(ConsumerMember("m1", metadata, revoking))
    wish = metadata.replace(group_instance_id=None, topic_regex="o.*")
    membership.put(ConsumerMember("m2", wish, waiting))
    topics = {"orders": Topic("orders", ORDERS_ID, 2)}
    return Group(
        "of-consumers",
        membership,
        topics=topics,
        clock_ms=T + 3_001,
        topics_version=1,
        new_topics_version=1,
    )


GROUPS = [
    simple("expiring", offset(43, 0, expires_ms=T + 3_600_000)),
    in_transaction(),
    left(),
    of_consumers(),
    rebalancing(),
    simple("simple", offset(42, 0)),
    stable(),
    syncing(),
    told_of_topics(),
]


def blobs(file: Path) -> dict[str, bytes]:
    texts: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return {group_id: b64decode(text) for group_id, text in texts.items()}


@pytest.mark.parametrize("file", VERSIONS, ids=lambda file: file.stem)
def test_what_every_version_wrote_is_read(file: Path) -> None:
    read = [snapshots.load(group_id, blob) for group_id, blob in blobs(file).items()]
    written = [group for group in GROUPS if group.group_id in blobs(file)]

    assert read == written
    for group, expected in zip(read, written, strict=True):
        assert snapshots.dump(group) == snapshots.dump(expected)


def test_the_present_version_is_among_them_and_writes_the_same_bytes() -> None:
    file = story.FILES / f"snapshots-{snapshots.SCHEMA_VERSION}.json"

    assert {group.group_id: snapshots.dump(group) for group in GROUPS} == blobs(file)


def test_every_group_of_the_story_is_there() -> None:
    assert [group.group_id for group in GROUPS] == sorted({group for group, _ in story.told()})
