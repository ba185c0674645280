"""Snapshots of consumer groups: small, and complete."""

from __future__ import annotations

import msgspec
import pytest

from group_coordinator.codecs import snapshots
from group_coordinator.core.assignors.spec import SubscriptionType
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    NO_METADATA,
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import (
    REGEX_TIMER,
    Timer,
    TimerKey,
    TimerKind,
    Timers,
    session_timer,
)

ORDERS_ID, BILLS_ID = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
SUBSCRIPTION = encode_subscription(["orders"])


def group_with_everything() -> Group:
    wish = SubscriptionMetadata(
        group_instance_id="i",
        rack_id="r1",
        client_id="client",
        client_host="/10.0.0.1",
        topic_names=("orders",),
        topic_regex="b.*",
        rebalance_timeout_ms=60_000,
        server_assignor="range",
        classic=None,
    )
    classic = ClassicMetadata(10_000, (Protocol("range", SUBSCRIPTION),))
    membership = ConsumerGroup(
        epoch=7,
        metadata_hash=-8,
        assignment_epoch=6,
        assignment_timestamp_ms=900,
        targets=StoredValues.of({"m1": {ORDERS_ID: (0, 1)}, "lost": {BILLS_ID: (3,)}}),
        regexes={"b.*": ResolvedRegex(("bills",), 3, 800)},
        timers=Timers(
            {
                session_timer("m2"): Timer(45_700, 700),
                TimerKey(TimerKind.REBALANCE, "m1"): Timer(60_900, 900),
                session_timer("gone"): Timer(45_000, 0),
                REGEX_TIMER: Timer(1_000, 1_000),
            }
        ),
        rebalance_epochs={"m1": 5},
        metadata_deadline_ms=2_147_484_000,
        member_room=3,
    )
    holding = CurrentAssignment(
        5,
        4,
        ReconciliationState.UNREVOKED_PARTITIONS,
        {ORDERS_ID: {0: 3, 1: 4}},
        {BILLS_ID: {0: 4, 2: 4}},
    )
    membership.put(ConsumerMember("m1", wish, holding))
    spoken = wish.replace(group_instance_id=None, rack_id=None, topic_regex=None, classic=classic)
    membership.put(ConsumerMember("m2", spoken))
    membership.former_subscription_type = SubscriptionType.HETEROGENEOUS
    return Group("g", membership, clock_ms=1_000)


FIRST = bytes.fromhex("7a369586c75b17875b06604e8602e81a")
SECOND = bytes.fromhex("3db959402fcf946f176a7412adee8f9a")
LAYOUT = [
    "consumer",
    7,
    -8,
    6,
    900,
    {
        FIRST: [["orders"], "b.*", "range", 1],
        SECOND: [["orders"], None, "range", 1],
    },
    {
        "m1": [
            "i", "r1", "client", "/10.0.0.1", FIRST, 60_000, None, 5, 4, 1,
            {ORDERS_ID: [[0, 1], [3, 4]]}, {BILLS_ID: [[0, 2], 4]},
        ],
        "m2": [
            None, None, "client", "/10.0.0.1", SECOND, 60_000, [10_000, [["range", SUBSCRIPTION]]],
            0, -1, 0, {}, {},
        ],
    },
    {"m1": {ORDERS_ID: [0, 1]}, "lost": {BILLS_ID: [3]}},
    {f"0:{ORDERS_ID}": {"m1": [0, 1]}, f"0:{BILLS_ID}": {"m1": [0, 2]}},
    {"i": "m1"},
    1,
    {"range": 1},
    {"b.*": [["bills"], 3, 800]},
    {
        "session:m2": [45_700, 700],
        "rebalance:m1": [60_900, 900],
        "session:gone": [45_000, 0],
        "regex": [1_000, 1_000],
    },
    {"m1": 5},
    2_147_484_000,
    3,
    "heterogeneous",
]  # fmt: skip


def test_the_layout_changes_only_with_the_schema_version() -> None:
    blob = snapshots.dump(group_with_everything())

    assert msgspec.msgpack.decode(blob)[1] == LAYOUT
    restored = snapshots.load("g", blob)
    assert restored == group_with_everything()
    assert restored.consumer is not None
    assert list(restored.consumer.timers) == [
        session_timer("m2"),
        TimerKey(TimerKind.REBALANCE, "m1"),
        session_timer("gone"),
        REGEX_TIMER,
    ]
    assert snapshots.dump(restored) == blob


def test_what_follows_from_the_members_comes_back() -> None:
    restored = snapshots.load("g", snapshots.dump(group_with_everything())).consumer

    assert restored is not None
    owned = {(topic_id, n) for topic_id in (ORDERS_ID, BILLS_ID) for n in range(4)}
    assert {each for each in owned if restored.owner_of(*each) == "m1"} == {
        (ORDERS_ID, 0),
        (ORDERS_ID, 1),
        (BILLS_ID, 0),
        (BILLS_ID, 2),
    }
    assert restored.static_members == {"i": "m1"}
    assert restored.assignor_votes == {"range": 2}
    assert restored.topic_subscribers == {"orders": 2}
    assert restored.regex_subscribers == {"b.*": 1}
    assert restored.classic_member_count == 1


def test_a_member_with_ten_partitions_takes_less_than_370_bytes() -> None:
    membership = ConsumerGroup(
        epoch=9, metadata_hash=1, assignment_epoch=9, assignment_timestamp_ms=1_700_000_000_000
    )
    wish = NO_METADATA.replace(
        client_id="client",
        client_host="/10.0.0.1",
        topic_names=("orders",),
        rebalance_timeout_ms=60_000,
    )
    for number in range(1_000):
        member_id = f"{number:036d}"
        partitions = tuple(range(10 * number, 10 * number + 10))
        held = {ORDERS_ID: dict.fromkeys(partitions, 9)}
        has = CurrentAssignment(9, 8, ReconciliationState.STABLE, held, {})
        membership.put(ConsumerMember(member_id, wish, has))
        membership.targets[member_id] = {ORDERS_ID: partitions}
        now_ms = 1_700_000_000_000 + number
        membership.timers[session_timer(member_id)] = Timer(now_ms + 45_000, now_ms)

    blob = snapshots.dump(Group("g", membership, clock_ms=1_700_000_005_000))

    assert len(blob) < 370_000


def test_a_subscription_that_nobody_has_is_damage() -> None:
    version, layout, *others = msgspec.msgpack.decode(snapshots.dump(group_with_everything()))
    layout[5][FIRST][3] = 0

    with pytest.raises(snapshots.SnapshotError, match=f"{FIRST.hex()}: subscribers = 0, must be"):
        snapshots.load("g", msgspec.msgpack.encode([version, layout, *others]))
