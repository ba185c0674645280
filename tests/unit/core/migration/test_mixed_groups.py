"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and their timers."""

from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.core.model.consumer_member import ClassicMetadata
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Heartbeat, LeaveGroup, LeavingMember
from group_coordinator.core.model.topic import Topic
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import ORD, UNREVOKED, cluster, current, kinds, target
from tests.unit.core.mixed_groups import add, given, join, mixed_group, stay_alive, sync

NONE = ErrorCode.NONE
AGAIN = ErrorCode.REBALANCE_IN_PROGRESS
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


def test_a_newcomer_is_given_an_id_first() -> None:
    driver = one_consumer()

    asked = join(driver)
    member_id = asked.response.member_id
    assert (asked.response.error, asked.records) == (ErrorCode.MEMBER_ID_REQUIRED, ())
    assert len(member_id) == 22

    joined = join(driver, member_id)
    assert kinds(joined.records) == [
        "+Member",
        "+GroupEpoch",
        "+Target",
        "+Target",
        "+TargetEpoch",
        "+Current",
    ]
    answer = joined.response
    assert (answer.error, answer.generation, answer.protocol) == (NONE, 3, "range")
    assert (answer.protocol_type, answer.leader, answer.members) == ("consumer", "", ())
    assert driver.group.consumer is not None
    metadata = driver.group.consumer.members[member_id].metadata
    assert isinstance(metadata.classic, ClassicMetadata)
    assert (metadata.topic_names, metadata.classic.session_timeout_ms) == (("orders",), 10_000)


def test_it_gives_back_in_two_joins_and_takes_in_two() -> None:
    driver = one_consumer()
    member_id = add(driver)
    assert given(sync(driver, member_id, 3).response) == {}
    assert driver.heartbeat(member_id, 3).response.error is NONE

    # The consumer gives its part back: then there is something to fetch.
    kept = driver.consumers.beat("m1", {ORD: [0, 1, 2]}).response.assignment
    driver.consumers.beat("m1", kept)
    assert driver.heartbeat(member_id, 3).response.error is AGAIN
    assert join(driver, member_id).response.generation == 3
    had = given(sync(driver, member_id, 3).response)
    assert had == {"orders": target(driver, member_id)[ORD]}

    # Somebody else joins, and it has to give all of it back, which takes one more JoinGroup.
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"])
    driver.consumers.join("m3", ["orders"])
    driver.sleep(1_000)
    driver.consumers.join("m0", ["bills"])
    driver.consumers.leave("m1")
    driver.sleep(1_000)
    driver.consumers.beat("m2", {})
    assert driver.heartbeat(member_id, 3).response.error is AGAIN
    assert sync(driver, member_id, 3).response.error is AGAIN


def test_what_it_must_give_back_it_is_asked_for_until_it_joins_without() -> None:
    driver, member_id = mixed_group()
    (held,) = (tuple(partitions) for partitions in current(driver, member_id).assigned.values())
    # The next target is not due yet; but nobody keeps what it does not want any more.
    join(driver, member_id, {"orders": held}, topics=("bills",))

    assert (current(driver, member_id).epoch, current(driver, member_id).state) == (3, UNREVOKED)
    assert given(sync(driver, member_id, 3).response) == {}
    assert driver.heartbeat(member_id, 3).response.error is AGAIN
    driver.sleep(1_000)
    assert join(driver, member_id, {}, topics=("bills",)).response.generation == 4


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"protocol_type": "connect"}, INCONSISTENT),
        ({"names": ("other",)}, INCONSISTENT),
        ({"names": ("other", "range")}, NONE),
        ({"metadata": b""}, INCONSISTENT),
        ({"metadata": b"\0\1\xff\xff\xff\xff"}, INCONSISTENT),
        ({"member_id": "stranger", "group_instance_id": "i9"}, UNKNOWN),
        ({"member_id": "stranger", "group_instance_id": "i1"}, FENCED),
        ({"group_instance_id": "i9"}, NONE),
    ],
)
def test_who_may_join(fields: dict[str, Any], expected: ErrorCode) -> None:
    driver = one_consumer()
    add(driver, group_instance_id="i1")
    driver.sleep(2_000)

    answer = join(driver, **{"version": 3} | fields).response

    assert answer.error is expected
    assert (answer.member_id == "") is (expected is not NONE)


def test_a_group_has_a_size() -> None:
    driver = one_consumer(group_consumer_max_size=1)
    assert join(driver).response.error is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_the_policy_may_keep_classic_members_out() -> None:
    driver = one_consumer(group_consumer_migration_policy="disabled")
    answer = join(driver, "anybody").response
    assert (answer.error, answer.member_id) == (INCONSISTENT, "")


def test_a_static_member_comes_back_under_another_id() -> None:
    driver = one_consumer()
    first = add(driver, group_instance_id="i1")

    outcome = join(driver, group_instance_id="i1")

    assert kinds(outcome.records) == [
        "-Current",
        "-Target",
        "-Member",
        "+Member",
        "+Target",
        "+Current",
        "+Current",
    ]
    second = outcome.response.member_id
    assert outcome.response.generation == 3
    assert heartbeat(driver, first, 3, "i1") is FENCED
    assert heartbeat(driver, first, 3, None) is UNKNOWN
    assert heartbeat(driver, second, 3, "i1") is NONE
    assert heartbeat(driver, second, 3, "i2") is UNKNOWN
    assert heartbeat(driver, second, 2, "i1") is OLD


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"protocol": "other"}, INCONSISTENT),
        ({"protocol_type": "connect"}, INCONSISTENT),
        ({"generation": 2}, OLD),
        ({"member_id": "stranger"}, UNKNOWN),
        ({"member_id": "m1"}, UNKNOWN),
    ],
)
def test_who_may_sync(fields: dict[str, Any], expected: ErrorCode) -> None:
    driver, member_id = mixed_group()
    answer = sync(driver, **{"member_id": member_id, "generation": 3} | fields).response
    assert answer.error is expected


def test_consumers_do_not_send_heartbeats_of_the_classic_protocol() -> None:
    driver, _ = mixed_group()
    assert driver.heartbeat("m1", 3).response.error is UNKNOWN


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


def test_a_member_that_is_told_to_join_has_its_rebalance_timeout_from_then_on() -> None:
    driver = one_consumer()
    member_id = add(driver)
    sync(driver, member_id, 3)
    kept = driver.consumers.beat("m1", {ORD: [0, 1, 2]}).response.assignment
    driver.consumers.beat("m1", kept)

    assert stay_alive(driver, 62_000, member_id, 3, "m1") == {AGAIN}
    assert driver.at(61_999).records == ()
    assert kinds(driver.at(62_000).records) == LEFT


def test_a_member_that_joined_has_its_rebalance_timeout_to_sync() -> None:
    driver = one_consumer()
    member_id = add(driver, topics=("bills",))

    assert stay_alive(driver, 62_000, member_id, 3, "m1") == {NONE}
    assert driver.at(61_999).records == ()
    assert kinds(driver.at(62_000).records) == LEFT


def test_members_that_leave_together_bring_one_epoch() -> None:
    driver = one_consumer()
    first = add(driver)
    driver.sleep(1_000)
    second = add(driver, group_instance_id="i2")

    outcome = leave(
        driver, (first, None), ("stranger", None), ("", "i2"), ("", "i9"), (first, None)
    )

    assert [result.error for result in outcome.response.members] == [
        NONE,
        UNKNOWN,
        NONE,
        UNKNOWN,
        NONE,
    ]
    assert kinds(outcome.records) == [*LEFT[:3], *LEFT[:3], "+GroupEpoch"]
    assert driver.group.consumer is not None
    assert second not in driver.group.consumer.members


def test_nobody_leaves_where_nobody_is_known() -> None:
    driver, _ = mixed_group()
    outcome = leave(driver, ("stranger", None), ("stranger", "i9"))

    assert outcome.records == ()
    assert [result.error for result in outcome.response.members] == [UNKNOWN, UNKNOWN]


def test_a_consumer_may_be_named_too() -> None:
    driver = one_consumer()
    driver.consumers.join("m2", ["orders"])
    outcome = leave(driver, ("m2", None))

    assert outcome.response.members[0].error is NONE
    assert kinds(outcome.records) == LEFT


def test_an_emptied_group_knows_nobody() -> None:
    driver = one_consumer()
    driver.consumers.leave("m1")

    assert heartbeat(driver, "m1", 3, None) is UNKNOWN
    assert sync(driver, "m1", 3).response.error is UNKNOWN
    assert leave(driver, ("m1", None)).response.members[0].error is UNKNOWN
