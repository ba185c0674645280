"""ConsumerGroupHeartbeat at epoch 0: a member comes, and a group with it (KIP-848)."""

from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.core.model.consumer_member import (
    CurrentAssignment,
    GroupEpoch,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    Reason,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.model.states import ConsumerState
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import BIL, ORD, STABLE, cluster, current, kinds, target

JOIN = Reason.JOIN
HASH_OF_ORDERS = -2718304761464552938


def test_the_first_member_gets_everything_at_epoch_2() -> None:
    driver = cluster()

    outcome = driver.consumers.join("m1", ["orders"])

    metadata = SubscriptionMetadata(
        group_instance_id=None,
        rack_id=None,
        client_id="client",
        client_host="/127.0.0.1",
        topic_names=("orders",),
        topic_regex=None,
        rebalance_timeout_ms=60_000,
        server_assignor=None,
        classic=None,
    )
    had = {ORD: {0: 2, 1: 2, 2: 2}}
    assert outcome.records == (
        MemberRecord("m1", metadata, JOIN),
        GroupEpochRecord(GroupEpoch(2, HASH_OF_ORDERS), JOIN),
        TargetRecord("m1", {ORD: (0, 1, 2)}, JOIN),
        TargetEpochRecord(TargetEpoch(2, 1_000), JOIN),
        CurrentRecord("m1", CurrentAssignment(2, 0, STABLE, had, {}), JOIN),
    )
    answer = outcome.response
    assert (answer.error, answer.member_id, answer.member_epoch) == (ErrorCode.NONE, "m1", 2)
    assert (answer.heartbeat_interval_ms, answer.assignment) == (5_000, {ORD: (0, 1, 2)})
    assert driver.group.consumer is not None
    assert driver.group.consumer.state is ConsumerState.STABLE


def test_topics_that_are_not_there_give_a_member_nothing_but_an_epoch() -> None:
    driver = cluster()

    outcome = driver.consumers.join("m1", ["lost"])

    assert kinds(outcome.records) == [
        "+Member", "+GroupEpoch", "+Target", "+TargetEpoch", "+Current",
    ]  # fmt: skip
    assert (outcome.response.member_epoch, outcome.response.assignment) == (2, {})


def test_an_empty_subscription_bumps_nothing() -> None:
    driver = cluster()

    outcome = driver.consumers.join("m1", [])

    assert kinds(outcome.records) == ["+Member", "+Current"]
    assert outcome.response.member_epoch == 1


def test_a_second_member_waits_for_what_the_first_still_has() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)

    outcome = driver.consumers.join("m2", ["orders"])

    assert outcome.response.assignment == {}
    assert outcome.response.member_epoch == 3
    assert current(driver, "m2").state.name == "UNRELEASED_PARTITIONS"
    shares = sorted([*target(driver, "m1")[ORD], *target(driver, "m2")[ORD]])
    assert shares == [0, 1, 2]


def test_a_member_that_joins_again_keeps_what_it_has() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    outcome = driver.consumers.join("m1", ["orders"])

    assert outcome.records == ()
    assert (outcome.response.member_epoch, outcome.response.assignment) == (2, {ORD: (0, 1, 2)})


def test_the_assignment_waits_for_its_interval_and_a_heartbeat() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    joined = driver.sleep(999) and driver.consumers.join("m2", ["bills"])
    assert kinds(joined.records) == ["+Member", "+GroupEpoch", "+Current"]
    assert (joined.response.member_epoch, joined.response.assignment) == (2, {})
    assert driver.group.consumer is not None
    assert driver.group.consumer.state is ConsumerState.ASSIGNING

    driver.sleep(1)
    beat = driver.consumers.beat("m2")

    assert kinds(beat.records) == ["+Target", "+TargetEpoch", "+Current"]
    assert (beat.response.member_epoch, beat.response.assignment) == (3, {BIL: (0,)})


def test_without_an_interval_every_change_is_assigned_at_once() -> None:
    driver = cluster(group_consumer_assignment_interval_ms=0)
    driver.consumers.join("m1", ["orders"])

    assert driver.consumers.join("m2", ["bills"]).response.assignment == {BIL: (0,)}


def test_a_group_is_full_for_strangers_alone() -> None:
    driver = cluster(group_consumer_max_size=1)
    driver.consumers.join("m1", ["orders"])

    refused = driver.consumers.join("m2", ["orders"])
    assert refused.response.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert refused.records == ()

    assert driver.consumers.join("m1", ["orders"]).response.error is ErrorCode.NONE


def test_the_first_version_gives_out_ids() -> None:
    driver = cluster()

    answer = driver.consumers.join("", ["orders"], version=0).response

    assert answer.member_id == "k1Y1qbx9VvifFVyDiZ86bg"


def test_most_members_choose_the_assignor() -> None:
    driver = cluster(group_consumer_assignment_interval_ms=0)
    driver.consumers.join("m1", ["orders", "bills"])
    driver.consumers.join("m2", ["orders", "bills"], server_assignor="range")

    # Ranges: the first members take what is over of each topic. Uniformly it would be two partitions for each.
    assert target(driver, "m1") == {ORD: (0, 1), BIL: (0,)}
    assert driver.consumers.describe().response.assignor == "range"


INVALID = ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"member_id": ""}, INVALID, "MemberId can't be empty."),
        ({"member_id": " \t"}, INVALID, "MemberId can't be empty."),
        ({"group_instance_id": ""}, INVALID, "InstanceId can't be empty."),
        ({"rack_id": " "}, INVALID, "RackId can't be empty."),
        (
            {"rebalance_timeout_ms": None},
            INVALID,
            "RebalanceTimeoutMs must be provided in first request.",
        ),
        ({"owned": None}, INVALID, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topic_names": None},
            INVALID,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"member_epoch": -2}, INVALID, "InstanceId can't be null."),
        ({"member_epoch": -3}, INVALID, "MemberEpoch is invalid."),
        (
            {"server_assignor": "sticky"},
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            "ServerAssignor sticky is not supported. Supported assignors: uniform, range.",
        ),
        (
            {"topic_regex": "("},
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            "SubscribedTopicRegex `(` is not a valid regular expression: missing closing ).",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    fields: dict[str, Any], error: ErrorCode, message: str
) -> None:
    driver = cluster()

    outcome = driver.consumers.join("m1", ["orders"], **fields)

    assert (outcome.response.error, outcome.response.error_message) == (error, message)
    assert outcome.records == ()
    assert driver.group.membership is None


def test_a_group_needs_a_name() -> None:
    answer = GroupDriver("  ").consumers.join("m1", ["orders"]).response

    assert (answer.error, answer.error_message) == (INVALID, "GroupId can't be empty.")


def test_an_unknown_group_knows_no_epochs() -> None:
    driver = cluster()

    for epoch in (1, -1):
        answer = driver.consumers.beat("m1", epoch=epoch).response
        assert answer.error is ErrorCode.GROUP_ID_NOT_FOUND
