from __future__ import annotations

import pytest

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState, Protocol
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    OffsetRecord,
    Reason,
    Record,
)
from group_coordinator.core.model.timers import JOIN_TIMER, NEVER_MS, Timer, session_timer
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.replay import begin_sessions, replay
from group_coordinator.settings import load
from tests.unit.core.requests import committed_offset, protocol, unreadable

OFFSET = committed_offset(leader_epoch=5, metadata="note")


def replayed(*records: Record, now_ms: int = 50_000) -> Group:
    group = Group("g")
    replay(group, records, now_ms)
    return group


def membership_in(*records: Record) -> ClassicGroup:
    membership = replayed(*records).classic
    assert membership is not None
    return membership


def stored(topic: str, partition: int, value: CommittedOffset | None = OFFSET) -> OffsetRecord:
    return OffsetRecord(topic, partition, value, Reason.MIRRORED)


def logged(
    *members: MemberMetadata, protocol_type: str = "consumer", state_timestamp_ms: int | None = 7
) -> GroupRecord:
    leader = members[0].member_id if members else None
    name = "range" if members else None
    value = GroupMetadata(
        protocol_type=protocol_type,
        generation=3,
        protocol=name,
        leader=leader,
        state_timestamp_ms=state_timestamp_ms,
        members=members,
    )
    return GroupRecord(value, Reason.MIRRORED)


def member(member_id: str, entry: Protocol, instance_id: str | None = None) -> MemberMetadata:
    assignment = encode_assignment({"orders": [0]})
    return MemberMetadata(
        member_id=member_id,
        group_instance_id=instance_id,
        client_id="client",
        client_host="/127.0.0.1",
        rebalance_timeout_ms=60_000,
        session_timeout_ms=10_000,
        subscription=entry,
        assignment=assignment,
    )


def test_a_loaded_group_above_its_largest_size_rebalances() -> None:
    """onLoaded in Kafka: group.max.size may be lower than when the members joined."""
    states = {}
    for largest_size in (1, 2):
        group = replayed(logged(member("a", protocol()), member("b", protocol())))
        begin_sessions(
            group, 90_000, load(overrides=[f"group.max.size={largest_size}"]).coordinator
        )
        assert group.classic is not None
        timers = {key: timer.due_ms for key, timer in group.classic.timers.items()}
        states[largest_size] = group.classic.state, timers

    sessions = {session_timer("a"): 100_000, session_timer("b"): 100_000}
    assert states[1] == (ClassicState.PREPARING_REBALANCE, sessions | {JOIN_TIMER: 150_000})
    assert states[2] == (ClassicState.STABLE, sessions)


def test_an_offset_makes_a_simple_group() -> None:
    group = replayed(stored("orders", 0))

    assert group.offsets == {"orders": {0: OFFSET}}
    assert group.membership == ClassicGroup(state_timestamp_ms=50_000)


def test_a_tombstone_removes_an_offset_and_an_empty_topic() -> None:
    group = replayed(
        stored("orders", 0), stored("orders", 1), stored("refunds", 0), stored("orders", 0, None)
    )
    assert group.offsets == {"orders": {1: OFFSET}, "refunds": {0: OFFSET}}

    replay(group, [stored("orders", 1, None)], 0)
    assert group.offsets == {"refunds": {0: OFFSET}}


def test_tombstones_of_unknown_things_are_fine() -> None:
    group = replayed(stored("orders", 0, None), GroupRecord(None, Reason.MIRRORED))

    assert group == Group("g")


def test_a_group_with_members_is_stable_and_their_sessions_begin_now() -> None:
    group = replayed(
        logged(member("a", protocol()), member("b", protocol("range", "refunds"), "i"))
    )

    assert group.membership == ClassicGroup(
        state=ClassicState.STABLE,
        state_timestamp_ms=7,
        generation=3,
        protocol_type="consumer",
        protocol="range",
        leader="a",
        subscribed_topics=frozenset({"orders", "refunds"}),
        members={
            member_id: ClassicMember(
                member_id=member_id,
                group_instance_id=instance_id,
                client_id="client",
                client_host="/127.0.0.1",
                rebalance_timeout_ms=60_000,
                session_timeout_ms=10_000,
                protocols=(entry,),
                assignment=encode_assignment({"orders": [0]}),
            )
            for member_id, instance_id, entry in (
                ("a", None, protocol()),
                ("b", "i", protocol("range", "refunds")),
            )
        },
        timers={
            session_timer("a"): Timer(60_000, 50_000),
            session_timer("b"): Timer(60_000, 50_000),
        },
    )


def test_a_member_of_the_first_version_has_its_session_timeout_to_rebalance() -> None:
    entry = member("m", protocol()).replace(rebalance_timeout_ms=-1)

    assert membership_in(logged(entry)).members["m"].rebalance_timeout_ms == 10_000


def test_only_the_number_of_no_rebalance_timeout_is_none() -> None:
    entry = member("m", protocol()).replace(rebalance_timeout_ms=-2)

    assert membership_in(logged(entry)).members["m"].rebalance_timeout_ms == -2


def test_a_group_without_members_is_empty_since_the_time_of_the_log() -> None:
    membership = membership_in(logged())

    assert membership.state is ClassicState.EMPTY
    assert membership.state_timestamp_ms == 7
    assert membership.subscribed_topics == frozenset()
    assert membership.timers == {}


def test_the_time_may_be_unknown() -> None:
    assert membership_in(logged(state_timestamp_ms=None)).state_timestamp_ms is None


def test_a_group_that_never_had_a_generation_has_no_protocol_type() -> None:
    assert membership_in(logged(protocol_type="")).protocol_type is None


@pytest.mark.parametrize(
    "record",
    [
        logged(protocol_type=""),
        logged(member("a", protocol()), member("b", unreadable())),
        logged(member("a", protocol()), protocol_type="connect"),
    ],
    ids=["no generation yet", "one unreadable subscription", "members that are no consumers"],
)
def test_subscriptions_may_be_unknown(record: GroupRecord) -> None:
    assert membership_in(record).subscribed_topics is None


def test_the_last_record_of_a_group_counts() -> None:
    group = replayed(logged(member("a", protocol())), stored("orders", 0), logged())

    assert group.membership is not None
    assert group.membership.members == {}
    assert group.offsets == {"orders": {0: OFFSET}}


def test_a_group_that_is_told_more_looks_for_its_deadlines_anew() -> None:
    group = replayed(stored("orders", 0))
    group.wake_ms = NEVER_MS

    replay(group, [logged(member("a", protocol()))], 50_000)

    assert group.wake_ms == 0


def test_a_groups_tombstone_leaves_offsets_alone() -> None:
    group = replayed(stored("orders", 0), GroupRecord(None, Reason.MIRRORED))

    assert group.membership is None
    assert group.offsets == {"orders": {0: OFFSET}}
