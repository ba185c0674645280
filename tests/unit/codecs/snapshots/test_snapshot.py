from __future__ import annotations

import re
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.snapshots.snapshot import (
    SCHEMA_VERSION,
    SnapshotError,
    SnapshotVersionError,
)
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import (
    ClassicMember,
    ClassicState,
    Protocol,
    ReplyAddress,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import JOIN_TIMER, Timer, Timers, session_timer
from group_coordinator.core.model.topic_offsets import LastMarker, PendingOffset, TopicOffsets
from tests.unit.codecs import strategies
from tests.unit.codecs.offsets_topic.cases import KNOWN, ORDERS_ID, PLAIN

WAITING = PLAIN.replace(offset=43, commit_timestamp_ms=1_200)


def group_with_everything() -> Group:
    member = ClassicMember(
        member_id="m",
        group_instance_id="i",
        client_id="client",
        client_host="/10.0.0.1",
        rebalance_timeout_ms=20_000,
        session_timeout_ms=10_000,
        protocols=(Protocol("range", encode_subscription(["orders"])),),
        assignment=b"\x01",
        is_new=True,
        awaiting_join=ReplyAddress("events-0-1", "c-1", 9),
        awaiting_sync=ReplyAddress("events-0-2", None, 5),
    )
    membership = ClassicGroup(
        state=ClassicState.STABLE,
        previous_state=ClassicState.COMPLETING_REBALANCE,
        state_timestamp_ms=1_000,
        generation=4,
        protocol_type="consumer",
        protocol="range",
        leader="m",
        subscribed_topics=frozenset({"orders", "audits"}),
        members=StoredValues.of({"m": member}),
        pending_joins={"p2", "p1"},
        pending_syncs={"m": None},
        timers=Timers({session_timer("m"): Timer(11_000, 1_000), JOIN_TIMER: Timer(5_000, 1_001)}),
        initial_delay_left_ms=3_000,
        new_member_added=True,
    )
    offsets = StoredValues.of({"orders": TopicOffsets.of({2: KNOWN})})
    topics = {"orders": Topic("orders", ORDERS_ID, 3)}
    pending = {("orders", 3): {17: (PendingOffset(WAITING, 1),)}}
    return Group(
        "g",
        membership,
        offsets,
        topics,
        1_500,
        5_000,
        pending,
        7,
        6,
        CONFIGS,
        topics_are_complete=False,
    )


CONFIGS = {"consumer.session.timeout.ms": "50000"}
MEMBERSHIP = [
    "classic",
    "Stable",
    "CompletingRebalance",
    1_000,
    4,
    "consumer",
    "range",
    "m",
    ["audits", "orders"],
    {
        "m": [
            "m",
            "i",
            "client",
            "/10.0.0.1",
            20_000,
            10_000,
            [["range", bytes.fromhex("0000 00000001 0006 6f7264657273 ffffffff")]],
            b"\x01",
            True,
            ["events-0-1", "c-1", 9, None],
            ["events-0-2", None, 5, None],
        ]
    },
    [1, {"range": 1}, {"i": ["m"]}, {20_000: 1}],
    ["p1", "p2"],
    ["m"],
    {"session:m": [11_000, 1_000], "join": [5_000, 1_001]},
    3_000,
    True,
]
OFFSETS = {"orders": [1, [1_000, None], 0, {2: [42, 3, "note", 1_000, None, ORDERS_ID]}]}
PENDING = [["orders", 3, {17: [[43, None, "", 1_200, None, None], 1]}]]
LAYOUT = [
    3,
    MEMBERSHIP,
    OFFSETS,
    [["orders", ORDERS_ID, 3, None]],
    1_500,
    PENDING,
    7,
    6,
    CONFIGS,
    False,
]


def test_the_layout_changes_only_with_the_schema_version() -> None:
    blob = snapshots.dump(group_with_everything())

    assert SCHEMA_VERSION == 3
    assert msgspec.msgpack.decode(blob, strict=False) == LAYOUT
    assert snapshots.load("g", msgspec.msgpack.encode(LAYOUT)) == group_with_everything()


def test_a_parked_request_keeps_where_its_client_reads() -> None:
    group = group_with_everything()
    assert isinstance(group.membership, ClassicGroup)
    member = group.membership.members["m"]
    parked = ReplyAddress("events-0-1", "c-1", 9, reply_partition=3)
    group.membership.put(member.replace(awaiting_join=parked))

    assert snapshots.load("g", snapshots.dump(group)) == group


def test_offsets_that_know_their_marker_come_last() -> None:
    group = group_with_everything()
    since_7 = PendingOffset(PLAIN.replace(offset=44, commit_timestamp_ms=1_300), 2, 7, 3)
    group.pending["orders", 3] = {17: (PendingOffset(WAITING, 1), since_7)}
    group.last_markers = {17: LastMarker(6, 1, 1_400)}

    blob = snapshots.dump(group)

    assert snapshots.load("g", blob) == group
    *others, placed = msgspec.msgpack.decode(blob)
    assert others == LAYOUT
    offset = [44, None, "", 1_300, None, None]
    assert placed == [[["orders", 3, 17, [offset, 2, 7, 3]]], {17: [6, 1, 1_400]}]


def test_a_group_that_is_nothing_yet_is_small() -> None:
    assert len(snapshots.dump(Group("a rather long group id"))) == 11


def test_an_offset_takes_less_than_64_bytes() -> None:
    group = Group("g", ClassicGroup())
    long_ones = KNOWN.replace(
        offset=10**12, leader_epoch=5, metadata="", commit_timestamp_ms=1_700_000_000_000
    )
    for partition in range(1_000):
        group.store_offset("orders", partition, long_ones)

    assert len(snapshots.dump(group)) < 64_000


@given(strategies.groups)
def test_a_group_comes_back(group: Group) -> None:
    blob = snapshots.dump(group)
    restored = snapshots.load(group.group_id, blob)

    assert restored == group
    assert snapshots.dump(restored) == blob
    if group.membership is not None and restored.membership is not None:
        assert list(restored.membership.timers) == list(group.membership.timers)
        assert list(restored.membership.members) == list(group.membership.members)


@pytest.mark.parametrize("version", [4, 2], ids=["of the future", "without an upcaster"])
def test_an_unknown_version_is_named(version: int) -> None:
    for layout in ([version, "whatever"], [version, *LAYOUT[1:]]):
        message = f"the state of group 'g' has schema version {version}; this program knows 3"
        with pytest.raises(SnapshotVersionError, match=re.escape(message)):
            snapshots.load("g", msgspec.msgpack.encode(layout))


def test_an_earlier_version_is_brought_to_the_present_one_step_by_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two made-up versions: the first had the clock in seconds, the second no settings."""
    monkeypatch.setitem(
        snapshots.UPCASTERS, 1, lambda old: [2, *old[1:4], old[4] * 1_000, *old[5:]]
    )
    monkeypatch.setitem(snapshots.UPCASTERS, 2, lambda old: [3, *old[1:], {}, True])
    oldest = msgspec.msgpack.encode([1, None, OFFSETS, None, 7, [], 0, 0])

    read = snapshots.load("g", oldest)

    offsets = StoredValues.of({"orders": TopicOffsets.of({2: KNOWN})})
    assert read == Group("g", None, offsets, None, 7_000)


def test_an_earlier_version_that_is_damaged_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(snapshots.UPCASTERS, 2, lambda old: [3, *old[1:]])

    with pytest.raises(SnapshotError, match="the state of group 'g' has schema version 2"):
        snapshots.load("g", msgspec.msgpack.encode([2, "consumer?"]))


def test_damage_is_told() -> None:
    blob = snapshots.dump(group_with_everything())

    with pytest.raises(SnapshotError, match="the state of group 'g' is not readable"):
        snapshots.load("g", b"")
    with pytest.raises(SnapshotError, match="the state of group 'g' is not readable"):
        snapshots.load("g", blob[:-1])
    with pytest.raises(SnapshotError, match="the state of group 'g' is damaged"):
        snapshots.load("g", msgspec.msgpack.encode([3, "consumer?", {}, None, 0, 0]))


@given(st.binary(max_size=40))
def test_any_bytes_are_a_group_or_an_error(blob: bytes) -> None:
    with suppress(SnapshotError):
        assert isinstance(snapshots.load("g", blob), Group)
