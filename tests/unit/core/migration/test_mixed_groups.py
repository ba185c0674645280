"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and their timers."""

from __future__ import annotations

from typing import Any

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Heartbeat, LeaveGroup, LeavingMember, Topic
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import UNREVOKED, cluster, current, kinds
from tests.unit.core.mixed_groups import add, given, join, mixed_group, sync

NONE = ErrorCode.NONE
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
FENCED = ErrorCode.FENCED_INSTANCE_ID
OLD = ErrorCode.ILLEGAL_GENERATION
INCONSISTENT = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
LEFT = ["-Current", "-Target", "-Member", "+GroupEpoch"]


def one_consumer(**settings: Any) -> GroupDriver:
    """The consumer m1 has all of orders, at epoch 2; the time is 2,000 ms."""
    driver = cluster(**settings)
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    return driver


def heartbeat(
    driver: GroupDriver, member_id: str, epoch: int, instance_id: str | None
) -> ErrorCode:
    error: ErrorCode = driver.send(Heartbeat("g", epoch, member_id, instance_id), 4).response.error
    return error


def leave(driver: GroupDriver, *members: tuple[str, str | None]) -> Any:
    leaving = tuple(LeavingMember(*member) for member in members)
    return driver.send(LeaveGroup("g", leaving), 5)


def test_topics_that_are_gone_are_not_handed_out() -> None:
    driver, member_id = mixed_group()
    driver.learn_topics(Topic("bills", "AAAAAAAAAAAAAAAAAAAAAg", 1))
    assert given(sync(driver, member_id, 3).response) == {}


def test_its_session_is_its_own_and_commits_do_not_prolong_it() -> None:
    driver, member_id = mixed_group()
    driver.at(8_000)
    driver.heartbeat(member_id, 3)
    driver.at(12_000)
    driver.commit({"orders": {0: 1}}, member_id, 3)

    assert driver.at(17_999).records == ()
    assert kinds(driver.at(18_000).records) == LEFT


def test_members_that_leave_together_bring_one_epoch() -> None:
    driver = one_consumer()
    first = add(driver)
    driver.sleep(1_000)
    second = add(driver, group_instance_id="i2")

    outcome = leave(
        driver, (first, None), ("stranger", None), ("", "i2"), ("", "i9"), (first, None)
    )

    errors = [result.error for result in outcome.response.members]
    assert errors == [NONE, UNKNOWN, NONE, UNKNOWN, NONE]
    assert kinds(outcome.records) == [*LEFT[:3], *LEFT[:3], "+GroupEpoch"]
    assert driver.group.consumer is not None
    assert second not in driver.group.consumer.members


def test_an_emptied_group_knows_nobody() -> None:
    driver = one_consumer()
    driver.consumers.leave("m1")

    assert heartbeat(driver, "m1", 3, None) is UNKNOWN
    assert sync(driver, "m1", 3).response.error is UNKNOWN
    assert leave(driver, ("m1", None)).response.members[0].error is UNKNOWN


def test_a_refused_join_names_no_member() -> None:
    answer = join(one_consumer(), version=3, protocol_type="connect", member_id="m9").response

    assert (answer.error, answer.member_id) == (INCONSISTENT, "")


def test_a_member_is_asked_for_its_partitions_until_it_joins_without_them() -> None:
    driver, member_id = mixed_group()
    (held,) = (tuple(partitions) for partitions in current(driver, member_id).assigned.values())
    # The next target is not due yet, but topics without a subscription are given back at once.
    join(driver, member_id, {"orders": held}, topics=("bills",))

    assert (current(driver, member_id).epoch, current(driver, member_id).state) == (3, UNREVOKED)
    assert given(sync(driver, member_id, 3).response) == {}
    assert driver.heartbeat(member_id, 3).response.error is ErrorCode.REBALANCE_IN_PROGRESS
    driver.sleep(1_000)
    assert join(driver, member_id, {}, topics=("bills",)).response.generation == 4
