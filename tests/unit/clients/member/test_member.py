from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable

import pytest
from kafka import TopicPartition

from group_coordinator.clients.errors import (
    InvalidSessionTimeoutError,
    RequestTimedOutError,
    UnknownMemberIdError,
)
from group_coordinator.clients.member.classic import assignments, partitions_by_range
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions, MemberState
from group_coordinator.core.embedded_protocol import encode_assignment, encode_subscription
from tests.unit.clients.billing import partitions, poll
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

COUNTS = {"orders": 4, "refunds": 2}


@pytest.fixture
def coordinator() -> CoordinatorInProcess:
    return CoordinatorInProcess()


def new_member(
    coordinator: CoordinatorInProcess, name: str, topics: Iterable[str] = ("orders",)
) -> GroupMember:
    options = MemberOptions(client_id=name, session_timeout_ms=10_000, rebalance_timeout_ms=20_000)
    return GroupMember(
        coordinator, "billing", list(topics), COUNTS, options=options, clock=coordinator.clock
    )


def meet(coordinator: CoordinatorInProcess, *members: GroupMember) -> None:
    """Let the initial rebalance delay pass, and everybody sync."""
    poll(*members)
    coordinator.sleep(3_000)
    poll(*members)
    coordinator.sleep(3_000)
    poll(*members)


def test_a_first_join_gets_an_id_and_waits_for_others(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")

    poll(member)

    assert member.state is MemberState.JOINING
    assert [event["api"] for event in coordinator.events] == ["JoinGroup", "JoinGroup"]
    assert coordinator.events[1]["body"]["memberId"].startswith("a-")


def test_a_lone_member_gets_everything(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")

    meet(coordinator, member)

    assert member.state is MemberState.STABLE
    assert member.assignment == partitions("orders", 0, 1, 2, 3)
    assert member.generation_id == 1


def test_members_share_by_range(coordinator: CoordinatorInProcess) -> None:
    a, b, c = (new_member(coordinator, name) for name in "abc")

    meet(coordinator, a, b, c)

    assert (a.assignment, b.assignment, c.assignment) == (
        partitions("orders", 0, 1),
        partitions("orders", 2),
        partitions("orders", 3),
    )


def test_a_heartbeat_tells_of_a_rebalance_to_join(coordinator: CoordinatorInProcess) -> None:
    a = new_member(coordinator, "a")
    meet(coordinator, a)
    b = new_member(coordinator, "b")

    poll(b)
    coordinator.sleep(3_000)
    poll(a, b)

    assert a.assignment == partitions("orders", 0, 1)
    assert b.assignment == partitions("orders", 2, 3)
    assert (a.generation_id, a.rebalances) == (2, 2)


def test_heartbeats_keep_the_session_alive(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    meet(coordinator, member)

    for _ in range(20):
        coordinator.sleep(3_000)
        poll(member)

    assert (member.state, member.generation_id) == (MemberState.STABLE, 1)


def test_a_member_whose_session_ended_joins_as_new(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    meet(coordinator, member)
    first_id = member.member_id

    coordinator.sleep(10_000)
    meet(coordinator, member)

    assert member.state is MemberState.STABLE
    assert member.member_id != first_id


def test_a_changed_subscription_rebalances(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a", ["orders", "refunds"])
    meet(coordinator, member)

    member.subscribe(["refunds"])
    coordinator.sleep(3_000)
    poll(member)

    assert member.assignment == partitions("refunds", 0, 1)
    assert member.generation_id == 2


def test_what_the_leader_does_not_read_is_assigned_too(coordinator: CoordinatorInProcess) -> None:
    leader, other = new_member(coordinator, "a"), new_member(coordinator, "b", ["refunds"])

    meet(coordinator, leader, other)

    assert other.assignment == partitions("refunds", 0, 1)


def test_a_member_that_leaves_is_gone_at_once(coordinator: CoordinatorInProcess) -> None:
    a, b = new_member(coordinator, "a"), new_member(coordinator, "b")
    meet(coordinator, a, b)

    b.leave()
    coordinator.sleep(3_000)
    poll(a, b)

    assert (b.state, b.assignment) == (MemberState.LEFT, set())
    assert a.assignment == partitions("orders", 0, 1, 2, 3)


def test_a_member_that_never_joined_leaves_silently(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")

    member.leave()
    poll(member)

    assert coordinator.events == []


def test_a_member_commits(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    meet(coordinator, member)

    member.commit({TopicPartition("orders", 0): 42})

    body = coordinator.events[-1]["body"]
    assert body["generationIdOrMemberEpoch"] == 1
    assert body["memberId"] == member.member_id


def test_a_commit_of_a_member_that_is_gone_is_refused(coordinator: CoordinatorInProcess) -> None:
    member, other = new_member(coordinator, "a"), new_member(coordinator, "b")
    meet(coordinator, member, other)
    coordinator.sleep(5_000)
    poll(other)
    coordinator.sleep(5_000)

    with pytest.raises(UnknownMemberIdError):
        member.commit({TopicPartition("orders", 0): 42})


def test_a_lost_heartbeat_is_followed_by_another(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    meet(coordinator, member)
    coordinator.is_silent = True
    coordinator.sleep(3_000)
    poll(member)

    coordinator.lose_all()
    coordinator.is_silent = False
    coordinator.sleep(3_000)
    poll(member)

    assert member.state is MemberState.STABLE
    assert [event["api"] for event in coordinator.events[-2:]] == ["Heartbeat", "Heartbeat"]


def test_a_lost_join_is_asked_again(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    coordinator.is_silent = True
    poll(member)

    coordinator.lose_all()
    coordinator.is_silent = False
    meet(coordinator, member)

    assert member.state is MemberState.STABLE


def test_a_member_refused_for_good_says_why_each_time() -> None:
    coordinator = CoordinatorInProcess(group_min_session_timeout_ms=15_000)
    member = new_member(coordinator, "a")

    for _ in range(2):
        with pytest.raises(InvalidSessionTimeoutError):
            poll(member)

    assert member.state is MemberState.FAILED


def test_join_gives_up_in_time(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")

    with pytest.raises(TimeoutError, match="a is still joining in group 'billing' after 0 ms"):
        member.join(timeout_ms=0)


def test_a_lost_commit_is_reported(coordinator: CoordinatorInProcess) -> None:
    member = new_member(coordinator, "a")
    meet(coordinator, member)
    coordinator.is_silent = True

    committing = member.commit_async({TopicPartition("orders", 0): 42})
    coordinator.lose_all()

    with pytest.raises(RequestTimedOutError):
        committing.result()


def test_a_commit_that_its_caller_has_cancelled(
    coordinator: CoordinatorInProcess, caplog: pytest.LogCaptureFixture
) -> None:
    member = new_member(coordinator, "a")
    meet(coordinator, member)
    coordinator.is_silent = True

    committing = member.commit_async({TopicPartition("orders", 0): 42})
    assert committing.cancel()
    coordinator.lose_all()

    assert caplog.messages == []


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_single_topic_is_no_list(coordinator: CoordinatorInProcess, protocol: str) -> None:
    options = MemberOptions(group_protocol=protocol)

    with pytest.raises(TypeError, match=r"'orders' is a single name: give a list, \['orders'\]"):
        GroupMember(coordinator, "billing", "orders", COUNTS, topic_ids={}, options=options)


def member(member_id: str, group_instance_id: str | None) -> dict[str, object]:
    metadata = b64encode(encode_subscription(("t",))).decode()
    return {"memberId": member_id, "groupInstanceId": group_instance_id, "metadata": metadata}


@pytest.mark.parametrize(
    ("members", "first_to_last"),
    [
        ([("b", None), ("a", None)], ["a", "b"]),
        ([("a", None), ("z", "i")], ["z", "a"]),
        ([("a", "2"), ("b", "10"), ("c", "1")], ["c", "b", "a"]),
        ([("\U0001f600", None), ("\uff5e", None)], ["\U0001f600", "\uff5e"]),
    ],
    ids=["by id", "static first", "by instance id", "as Java compares"],
)
def test_members_have_their_ranges_in_kafkas_order(
    members: list[tuple[str, str | None]], first_to_last: list[str]
) -> None:
    """MemberInfo.compareTo in Kafka's AbstractPartitionAssignor."""
    joined = {"members": [member(*one) for one in members]}

    assert assignments(joined, {"t": 3 * len(members)}) == {
        one: encode_assignment({"t": [3 * place, 3 * place + 1, 3 * place + 2]})
        for place, one in enumerate(first_to_last)
    }


def test_the_first_members_get_one_more() -> None:
    assigned = partitions_by_range({"a": ["t"], "b": ["t"], "c": ["t"]}, {"t": 5})

    assert assigned == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}, "c": {"t": [4]}}


def test_each_topic_is_cut_for_those_who_want_it() -> None:
    assigned = partitions_by_range({"a": ["t", "u"], "b": ["u"]}, {"t": 2, "u": 2})

    assert assigned == {"a": {"t": [0, 1], "u": [0]}, "b": {"u": [1]}}


def test_more_members_than_partitions() -> None:
    assigned = partitions_by_range({"a": ["t"], "b": ["t"]}, {"t": 1})

    assert assigned == {"a": {"t": [0]}, "b": {}}


def test_a_topic_that_is_not_there_is_not_assigned() -> None:
    assert partitions_by_range({"a": ["t"]}, {}) == {"a": {}}


def test_a_topic_named_twice_counts_once() -> None:
    assert partitions_by_range({"a": ["t", "t"]}, {"t": 2}) == {"a": {"t": [0, 1]}}
