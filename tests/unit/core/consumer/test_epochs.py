"""Heartbeats of members that are in: epochs, fencing, what an answer tells (KIP-848)."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.consumer_member import CurrentAssignment, ReconciliationState
from group_coordinator.core.model.errors import ErrorCode
from tests.unit.core.consumer_groups import (
    BIL,
    ORD,
    UNREVOKED,
    cluster,
    current,
    kinds,
    states,
    target,
    two_members_sharing_orders,
)


def test_a_heartbeat_that_brings_nothing_tells_nothing() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    outcome = driver.consumers.beat("m1", {ORD: [0, 1, 2]})

    assert outcome.records == ()
    assert (outcome.response.member_epoch, outcome.response.assignment) == (2, None)


def test_a_full_request_is_told_everything() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    answer = driver.consumers.beat(
        "m1", {}, topic_names=("orders",), rebalance_timeout_ms=60_000
    ).response

    assert answer.assignment == {ORD: (0, 1, 2)}


def test_partitions_move_in_three_steps() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"])

    revoking = driver.consumers.beat("m1", {ORD: [0, 1, 2]})
    kept = list(target(driver, "m1")[ORD])
    assert states(revoking.records) == [UNREVOKED]
    assert (revoking.response.member_epoch, revoking.response.assignment) == (2, {ORD: tuple(kept)})

    revoked = driver.consumers.beat("m1", {ORD: kept})
    assert (revoked.response.member_epoch, revoked.response.assignment) == (3, None)

    given = driver.consumers.beat("m2", {})
    assert given.response.assignment == target(driver, "m2")
    assert current(driver, "m2").epoch == 3


def test_a_member_that_does_not_say_what_it_has_may_still_have_it() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"])
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})

    outcome = driver.consumers.beat("m1")

    assert outcome.records == ()
    assert current(driver, "m1").state is UNREVOKED


@pytest.mark.parametrize("epoch", [1, 4])
def test_another_epoch_is_fenced(epoch: int) -> None:
    driver = two_members_sharing_orders()

    answer = driver.consumers.beat("m1", {}, epoch=epoch).response

    assert answer.error is ErrorCode.FENCED_MEMBER_EPOCH


def test_the_epoch_before_is_fine_for_one_that_has_nothing_new() -> None:
    driver = two_members_sharing_orders()
    has = {ORD: list(current(driver, "m1").assigned[ORD])}
    assert (current(driver, "m1").epoch, current(driver, "m1").previous_epoch) == (3, 2)

    assert driver.consumers.beat("m1", has, epoch=2).response.error is ErrorCode.NONE
    assert driver.consumers.beat("m1", {}, epoch=2).response.member_epoch == 3
    for owned in (None, {BIL: [0]}, {ORD: [0, 1, 2]}):
        answer = driver.consumers.beat("m1", owned, epoch=2).response
        assert answer.error is ErrorCode.FENCED_MEMBER_EPOCH


def test_a_stranger_is_unknown() -> None:
    driver = two_members_sharing_orders()

    answer = driver.consumers.beat("m9", epoch=3).response

    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID
    assert answer.error_message == "Member m9 is not a member of group g."


def test_a_changed_subscription_takes_effect_before_the_next_target() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders", "bills"])

    outcome = driver.consumers.beat("m1", {ORD: [0, 1, 2], BIL: [0]}, topic_names=("orders",))

    # The interval of a second is not over: the epoch is new, the target is not, but bills must be given back now.
    assert kinds(outcome.records) == ["+Member", "+GroupEpoch", "+Current"]
    assert current(driver, "m1") == CurrentAssignment(
        2, 2, UNREVOKED, {ORD: {0: 2, 1: 2, 2: 2}}, {BIL: {0: 2}}
    )
    assert outcome.response.assignment == {ORD: (0, 1, 2)}


def test_another_client_host_is_logged_and_changes_nothing_else() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.client_host = "/10.0.0.9"

    assert kinds(driver.consumers.beat("m1").records) == ["+Member"]


def test_a_member_in_a_state_of_the_future_begins_anew() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    unknown = current(driver, "m1").replace(state=ReconciliationState.UNKNOWN)
    membership = driver.group.consumer
    assert membership is not None
    membership.put(membership.members["m1"].replace(current=unknown))

    answer = driver.consumers.beat("m1", {ORD: [0]}).response
    assert answer.error is ErrorCode.FENCED_MEMBER_EPOCH

    outcome = driver.consumers.beat("m1", {})
    assert kinds(outcome.records) == ["+Current"]
    assert current(driver, "m1").state is ReconciliationState.STABLE


def test_members_that_leave_make_room_at_the_next_heartbeat() -> None:
    driver = two_members_sharing_orders()

    left = driver.consumers.leave("m1")
    assert kinds(left.records) == ["-Current", "-Target", "-Member", "+GroupEpoch"]
    answer = left.response
    assert (answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms) == ("m1", -1, 0)

    driver.sleep(1_000)
    beat = driver.consumers.beat("m2", {})
    assert (beat.response.member_epoch, beat.response.assignment) == (4, {ORD: (0, 1, 2)})


def test_the_last_one_leaves_an_empty_group_that_the_next_sweep_removes() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.consumers.leave("m1")
    assert driver.group.consumer is not None
    assert driver.group.consumer.state == "Empty"

    swept = driver.at(600_000)

    assert kinds(swept.records) == ["-TargetEpoch", "-PartitionMetadataTombstone", "-GroupEpoch"]
    assert driver.group.membership is None
