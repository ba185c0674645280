from __future__ import annotations

import pytest
from kafka import TopicPartition

from group_coordinator.clients.errors import (
    FencedInstanceIdError,
    InvalidRegularExpressionError,
    StaleMemberEpochError,
    UnsupportedAssignorError,
)
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import (
    MemberOptions,
    MemberState,
    SubscriptionPattern,
)
from tests.unit.clients.billing import (
    INTERVAL_MS,
    ORDERS,
    REFUNDS,
    bodies,
    live,
    new_member,
    partitions,
    poll,
)
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


def test_a_member_makes_its_own_id_and_joins_at_once(coordinator: CoordinatorInProcess) -> None:
    member = new_member(
        coordinator, "a", ["refunds", "orders"], group_remote_assignor="range", client_rack="east"
    )

    poll(member, rounds=1)

    [event] = coordinator.events
    assert (event["api"], event["version"]) == ("ConsumerGroupHeartbeat", 1)
    assert event["body"] == {
        "groupId": "billing",
        "memberId": member.member_id,
        "memberEpoch": 0,
        "instanceId": None,
        "rackId": "east",
        "rebalanceTimeoutMs": 60_000,
        "subscribedTopicNames": ["orders", "refunds"],
        "subscribedTopicRegex": "",
        "serverAssignor": "range",
        "topicPartitions": [],
    }
    assert len(member.member_id) == 22


def test_a_lone_member_gets_everything_at_once(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")

    member.join()

    assert member.state is MemberState.STABLE
    assert member.assignment == partitions("orders", 0, 1, 2, 3)
    assert (member.generation_id, member.rebalances) == (2, 1)


def test_what_was_assigned_is_acknowledged_by_the_next_poll(
    coordinator: CoordinatorInProcess,
) -> None:
    member = new_member(coordinator, "a")
    poll(member, rounds=2)
    assert len(coordinator.events) == 1

    poll(member)
    coordinator.sleep(INTERVAL_MS)
    poll(member)

    _, acknowledgement, heartbeat = bodies(coordinator)
    assert acknowledgement["topicPartitions"] == [{"topicId": ORDERS, "partitions": [0, 1, 2, 3]}]
    assert heartbeat == {
        "groupId": "billing",
        "memberId": member.member_id,
        "memberEpoch": 2,
        "instanceId": None,
        "rackId": None,
        "rebalanceTimeoutMs": -1,
        "subscribedTopicNames": None,
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": None,
    }


def test_heartbeats_follow_the_interval_that_the_coordinator_answers() -> None:
    coordinator = CoordinatorInProcess(group_consumer_heartbeat_interval_ms=7_000)
    member = new_member(coordinator, "a")
    poll(member)
    before = len(coordinator.events)

    coordinator.sleep(6_999)
    poll(member)
    assert len(coordinator.events) == before

    coordinator.sleep(1)
    poll(member)
    assert len(coordinator.events) == before + 1


def test_a_newcomer_waits_for_what_the_others_give_away(coordinator: CoordinatorInProcess) -> None:
    a, b = new_member(coordinator, "a"), new_member(coordinator, "b")
    live(coordinator, a)

    poll(b)
    assert (b.state, b.assignment) == (MemberState.STABLE, set())

    coordinator.sleep(INTERVAL_MS)
    poll(a, rounds=2)
    assert len(a.assignment) == 2
    assert b.assignment == set()

    live(coordinator, a, b)
    assert a.assignment | b.assignment == partitions("orders", 0, 1, 2, 3)
    assert (len(a.assignment), len(b.assignment)) == (2, 2)
    assert a.generation_id == b.generation_id == 3


def test_nobody_reads_what_another_one_still_has(coordinator: CoordinatorInProcess) -> None:
    members = [new_member(coordinator, name) for name in "abcd"]
    for count in range(1, 5):
        for _ in range(6):
            coordinator.sleep(1_000)
            for member in members[:count]:
                member.poll()
                held = [one for other in members for one in other.assignment]
                assert len(held) == len(set(held))
    live(coordinator, *members)

    assert [len(member.assignment) for member in members] == [1, 1, 1, 1]


def test_a_pattern_is_found_out_by_the_coordinator(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a", SubscriptionPattern("re.*"))

    live(coordinator, member)

    join = bodies(coordinator)[0]
    assert (join["subscribedTopicNames"], join["subscribedTopicRegex"]) == ([], "re.*")
    assert member.assignment == partitions("refunds", 0, 1)
    assert member.topics == set()


def test_a_changed_subscription_is_said_at_once(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a", SubscriptionPattern("re.*"))
    live(coordinator, member)
    before = len(coordinator.events)

    member.subscribe(["orders"])
    poll(member, rounds=1)

    [change] = bodies(coordinator)[before:]
    assert (change["subscribedTopicNames"], change["subscribedTopicRegex"]) == (["orders"], "")
    assert (change["rebalanceTimeoutMs"], change["topicPartitions"]) == (-1, None)
    live(coordinator, member)
    assert member.assignment == partitions("orders", 0, 1, 2, 3)


def test_a_subscription_that_changes_amid_a_heartbeat(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    live(coordinator, member)
    coordinator.sleep(INTERVAL_MS)
    poll(member, rounds=1)

    member.subscribe(["refunds"])
    poll(member)

    assert member.assignment == partitions("refunds", 0, 1)


def test_a_topic_is_taken_over_as_soon_as_it_is_named(coordinator: CoordinatorInProcess) -> None:
    known = {"orders": ORDERS}
    member = new_member(coordinator, "a", ["orders", "refunds"], known)
    live(coordinator, member)
    assert member.assignment == partitions("orders", 0, 1, 2, 3)

    known["refunds"] = REFUNDS
    poll(member)

    assert member.assignment == partitions("orders", 0, 1, 2, 3) | partitions("refunds", 0, 1)
    owned = bodies(coordinator)[-1]["topicPartitions"]
    assert {topic["topicId"] for topic in owned} == {ORDERS, REFUNDS}


def test_a_member_that_lapsed_joins_again_under_its_id(coordinator: CoordinatorInProcess) -> None:
    member, other = new_member(coordinator, "a"), new_member(coordinator, "b")
    live(coordinator, member, other)
    member_id = member.member_id

    for _ in range(10):
        coordinator.sleep(INTERVAL_MS)
        poll(other)
    poll(member, rounds=2)
    assert (member.state, member.assignment) == (MemberState.JOINING, set())
    rejoin = bodies(coordinator)[-1]
    assert (rejoin["memberEpoch"], rejoin["topicPartitions"]) == (0, [])
    assert rejoin["subscribedTopicNames"] == ["orders"]

    live(coordinator, member, other)
    assert member.member_id == member_id
    assert len(member.assignment) == 2


def test_a_lost_heartbeat_is_followed_by_a_full_one(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    live(coordinator, member)
    coordinator.is_silent = True
    coordinator.sleep(INTERVAL_MS)
    poll(member)

    coordinator.lose_all()
    coordinator.is_silent = False
    poll(member)

    again = bodies(coordinator)[-1]
    assert (again["memberEpoch"], again["rebalanceTimeoutMs"]) == (2, 60_000)
    assert again["topicPartitions"] == [{"topicId": ORDERS, "partitions": [0, 1, 2, 3]}]
    assert (member.state, member.rebalances) == (MemberState.STABLE, 1)


def test_a_lost_join_is_asked_again(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    coordinator.is_silent = True
    poll(member)

    coordinator.lose_all()
    coordinator.is_silent = False
    poll(member)

    assert member.state is MemberState.STABLE


def test_a_member_refused_for_good_says_why_each_time(coordinator: CoordinatorInProcess) -> None:
    for member, error in (
        (new_member(coordinator, "a", group_remote_assignor="sticky"), UnsupportedAssignorError),
        (new_member(coordinator, "a", SubscriptionPattern("(")), InvalidRegularExpressionError),
    ):
        for _ in range(2):
            with pytest.raises(error):
                poll(member)
        assert member.state is MemberState.FAILED


def test_a_classic_group_is_upgraded_while_it_works(coordinator: CoordinatorInProcess) -> None:
    classic = GroupMember(
        coordinator,
        "billing",
        ["orders"],
        {"orders": 4},
        options=MemberOptions(client_id="old"),
        clock=coordinator.clock,
    )
    for _ in range(3):
        poll(classic)
        coordinator.sleep(3_000)
    assert classic.assignment == partitions("orders", 0, 1, 2, 3)

    newcomer = new_member(coordinator, "new")
    for _ in range(10):
        poll(newcomer, classic)
        coordinator.sleep(1_000)
    assert (len(classic.assignment), len(newcomer.assignment)) == (2, 2)

    classic.leave()
    live(coordinator, newcomer)
    assert newcomer.assignment == partitions("orders", 0, 1, 2, 3)


def test_each_protocol_needs_facts_of_the_cluster(coordinator: CoordinatorInProcess) -> None:
    with pytest.raises(ValueError, match="needs topic_ids"):
        GroupMember(
            coordinator, "billing", ["orders"], options=MemberOptions(group_protocol="consumer")
        )
    with pytest.raises(ValueError, match="needs partition_counts"):
        GroupMember(coordinator, "billing", ["orders"])
    with pytest.raises(ValueError, match="a pattern needs the consumer protocol"):
        GroupMember(coordinator, "billing", SubscriptionPattern("o.*"), {"orders": 4})


def test_commits_name_topics_by_id_if_they_are_given(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    live(coordinator, member)

    member.commit({TopicPartition("orders", 0): 42})

    event = coordinator.events[-1]
    assert (event["api"], event["version"]) == ("OffsetCommit", 10)
    assert event["body"]["generationIdOrMemberEpoch"] == 2
    assert event["body"]["memberId"] == member.member_id
    assert [topic["topicId"] for topic in event["body"]["topics"]] == [ORDERS]


def test_commits_name_other_topics_by_name(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    live(coordinator, member)

    member.commit({TopicPartition("orders", 0): 42, TopicPartition("refunds", 1): 7})

    event = coordinator.events[-1]
    assert event["version"] == 9
    assert [topic["name"] for topic in event["body"]["topics"]] == ["orders", "refunds"]


def test_a_commit_at_an_epoch_that_is_over_is_refused(coordinator: CoordinatorInProcess) -> None:
    a, b = new_member(coordinator, "a"), new_member(coordinator, "b")
    live(coordinator, a)
    poll(b)
    live(coordinator, a, b)
    commit = a._membership.commit(dict.fromkeys(a.assignment, 42))  # noqa: SLF001 - sent too late
    c = new_member(coordinator, "c")
    poll(c)
    live(coordinator, a, b, c)
    given_away = new_member(coordinator, "d")
    poll(given_away)
    live(coordinator, a, b, c, given_away)

    results = commit.results(coordinator.send(commit.request).result())

    with pytest.raises(StaleMemberEpochError):
        results.all()


def test_a_member_leaves_for_good(coordinator: CoordinatorInProcess) -> None:
    a, b = new_member(coordinator, "a"), new_member(coordinator, "b")
    live(coordinator, a, b)

    b.leave()
    live(coordinator, a, b)

    assert (b.state, b.assignment) == (MemberState.LEFT, set())
    assert a.assignment == partitions("orders", 0, 1, 2, 3)
    [goodbye] = [body for body in bodies(coordinator) if body["memberEpoch"] < 0]
    assert (goodbye["memberId"], goodbye["memberEpoch"]) == (b.member_id, -1)


def test_a_static_member_leaves_its_place_to_the_next(coordinator: CoordinatorInProcess) -> None:
    first = new_member(coordinator, "a", group_instance_id="till-1")
    other = new_member(coordinator, "b")
    live(coordinator, first, other)
    had = first.assignment

    first.leave()
    assert bodies(coordinator)[-1]["memberEpoch"] == -2
    live(coordinator, other)
    assert len(other.assignment) == 2

    successor = new_member(coordinator, "a", group_instance_id="till-1")
    live(coordinator, successor, other)
    assert successor.assignment == had
    assert successor.member_id != first.member_id


def test_a_successor_waits_until_the_id_is_released(coordinator: CoordinatorInProcess) -> None:
    first = new_member(coordinator, "a", group_instance_id="till-1")
    live(coordinator, first)
    successor = new_member(coordinator, "a", group_instance_id="till-1")

    poll(successor)
    assert successor.state is MemberState.UNJOINED

    first.leave()
    coordinator.sleep(499)
    poll(successor)
    assert successor.state is MemberState.UNJOINED
    coordinator.sleep(1)
    poll(successor)
    assert successor.assignment == partitions("orders", 0, 1, 2, 3)


def test_a_static_member_whose_place_was_taken_is_fenced(
    coordinator: CoordinatorInProcess,
) -> None:
    first = new_member(coordinator, "a", group_instance_id="till-1")
    live(coordinator, first)
    coordinator.sleep(45_000)
    successor = new_member(coordinator, "a", group_instance_id="till-1")
    poll(successor)

    with pytest.raises(FencedInstanceIdError):
        poll(first)
    assert first.state is MemberState.FAILED


def test_a_member_that_never_joined_leaves_silently(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")

    member.leave()
    poll(member)

    assert coordinator.events == []
    assert member.generation_id == -1
