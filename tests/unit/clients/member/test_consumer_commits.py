from __future__ import annotations

import pytest
from kafka import TopicPartition

from group_coordinator.clients.errors import (
    StaleMemberEpochError,
)
from tests.unit.clients.billing import (
    ORDERS,
    live,
    new_member,
    poll,
)
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


def test_commits_name_topics_by_id_where_the_group_gave_them(
    coordinator: CoordinatorInProcess,
) -> None:
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
