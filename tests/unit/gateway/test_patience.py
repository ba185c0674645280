from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.gateway.job.delivery import RequestTimeouts
from group_coordinator.gateway.job.job_channel import GroupRequest
from group_coordinator.gateway.login import Caller
from tests.unit.gateway.groups_driver import join_body

CALLER = Caller("billing", "/10.0.0.7", "User:billing", None)


@pytest.fixture
def timeouts() -> RequestTimeouts:
    return RequestTimeouts(9_000)


def join(version: int = 9, **body: Any) -> GroupRequest:
    return GroupRequest("JoinGroup", version, "g", join_body("g") | body, CALLER, 0)


def sync(member_id: str) -> dict[str, Any]:
    return {"groupId": "g", "memberId": member_id}


def test_most_answers_come_soon(timeouts: RequestTimeouts) -> None:
    assert timeouts.timeout_s("Heartbeat", 4, {}) == 9
    assert timeouts.timeout_s("OffsetCommit", 9, {}) == 9


def test_a_join_may_take_as_long_as_its_group_may_wait_for_members(
    timeouts: RequestTimeouts,
) -> None:
    assert timeouts.timeout_s("JoinGroup", 9, join_body("g")) == 70
    assert timeouts.timeout_s("JoinGroup", 1, join_body("g")) == 70


def test_the_oldest_joins_have_only_a_session_timeout(timeouts: RequestTimeouts) -> None:
    body = join_body("g")
    del body["rebalanceTimeoutMs"]

    assert timeouts.timeout_s("JoinGroup", 0, body) == 40


def test_a_timeout_below_zero_is_none(timeouts: RequestTimeouts) -> None:
    assert timeouts.timeout_s("JoinGroup", 9, join_body("g") | {"rebalanceTimeoutMs": -5}) == 10


def test_a_sync_may_take_as_long_as_its_members_join(timeouts: RequestTimeouts) -> None:
    timeouts.learn(join(rebalanceTimeoutMs=20_000), {"errorCode": 0, "memberId": "a"})
    timeouts.learn(join(rebalanceTimeoutMs=1), {"errorCode": 79, "memberId": "b"})

    assert timeouts.timeout_s("SyncGroup", 5, sync("a")) == 30
    assert timeouts.timeout_s("SyncGroup", 5, sync("b")) == 310
    assert timeouts.timeout_s("SyncGroup", 5, sync("somebody elses")) == 310


def test_of_many_members_the_oldest_are_forgotten(timeouts: RequestTimeouts) -> None:
    ids = [f"m{number}" for number in range(4_000)]
    for each in ids:
        timeouts.learn(join(rebalanceTimeoutMs=0), {"errorCode": 0, "memberId": each.ljust(30_000)})

    waits = [timeouts.timeout_s("SyncGroup", 5, sync(each.ljust(30_000))) for each in ids]
    assert waits == [310] * (4_000 - 138) + [10] * 138
