"""ConsumerGroupHeartbeat (KIP-848): hashes, reasons, messages and states that no story shows."""

from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.core.model.classic_member import ConsumerState
from group_coordinator.core.model.consumer_member import (
    NO_METADATA,
    CurrentAssignment,
    GroupEpoch,
    ReconciliationState,
    ResolvedRegex,
    TargetEpoch,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    Reason,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from tests.unit.core.consumer_groups import (
    BIL,
    ORD,
    STABLE,
    cluster,
    current,
    kinds,
    two_members_sharing_orders,
)

JOIN = Reason.JOIN
HASH_OF_ORDERS = -2718304761464552938


def test_the_first_member_gets_everything_at_epoch_2() -> None:
    driver = cluster()

    outcome = driver.consumers.join("m1", ["orders"])

    metadata = NO_METADATA.replace(
        client_id="client",
        client_host="/127.0.0.1",
        topic_names=("orders",),
        rebalance_timeout_ms=60_000,
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


def test_the_first_version_gives_out_ids() -> None:
    driver = cluster()

    answer = driver.consumers.join("", ["orders"], version=0).response

    assert answer.member_id == "k1Y1qbx9VvifFVyDiZ86bg"


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


def test_without_topics_there_is_nothing_to_match() -> None:
    driver = cluster()
    driver.group.topics = None

    joined = driver.consumers.join("m1", topic_regex=".*")

    assert joined.records[2].value == ResolvedRegex((), 1, 1_000)


def test_whoever_comes_back_under_the_instance_id_gets_it_all() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.consumers.leave("m1", for_a_while=True)

    outcome = driver.consumers.join("m2", ["orders"], instance_id="i")

    assert kinds(outcome.records) == [
        "-Current", "-Target", "-Member", "+Member", "+Target", "+Current", "+Current",
    ]  # fmt: skip
    assert outcome.response.assignment == {ORD: (0, 1, 2)}
    assert current(driver, "m2") == CurrentAssignment(2, 0, STABLE, {ORD: {0: 0, 1: 0, 2: 0}}, {})
    assert driver.group.consumer is not None
    assert list(driver.group.consumer.members) == ["m2"]


def test_a_new_pattern_takes_the_place_of_the_old_one() -> None:
    driver = cluster()
    driver.consumers.join("m1", topic_regex="o.*")
    driver.consumers.beat("m1")
    driver.sleep(20_000)

    outcome = driver.consumers.beat("m1", {ORD: [0, 1, 2]}, topic_regex="b.*")

    tombstones = [r.regex for r in outcome.records if isinstance(r, RegexRecord) and not r.value]
    assert tombstones == ["o.*"]
    assert kinds(outcome.records)[-2:] == ["+Regex", "+GroupEpoch"]
    # Not subscribed to any more, so that orders must be given back before bills are known.
    assert outcome.response.assignment == {}


def test_no_pattern_any_more() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["bills"], topic_regex="o.*")
    driver.sleep(1_000)
    driver.consumers.beat("m1", {BIL: [0]})
    driver.sleep(1_000)

    outcome = driver.consumers.beat("m1", {BIL: [0]}, topic_regex="")

    assert kinds(outcome.records)[:3] == ["+Member", "-Regex", "+GroupEpoch"]
    assert outcome.response.assignment == {BIL: (0,)}


def test_the_epoch_before_is_fine_for_one_that_has_nothing_new() -> None:
    driver = two_members_sharing_orders()
    has = {ORD: list(current(driver, "m1").assigned[ORD])}
    assert (current(driver, "m1").epoch, current(driver, "m1").previous_epoch) == (3, 2)

    assert driver.consumers.beat("m1", has, epoch=2).response.error is ErrorCode.NONE
    assert driver.consumers.beat("m1", {}, epoch=2).response.member_epoch == 3
    for owned in (None, {BIL: [0]}, {ORD: [0, 1, 2]}):
        answer = driver.consumers.beat("m1", owned, epoch=2).response
        assert answer.error is ErrorCode.FENCED_MEMBER_EPOCH


def test_one_who_leaves_for_a_while_keeps_everything_at_epoch_minus_2() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")

    outcome = driver.consumers.leave("m1", for_a_while=True)

    assert kinds(outcome.records) == ["+Current"]
    assert current(driver, "m1") == CurrentAssignment(-2, 0, STABLE, {ORD: {0: 0, 1: 0, 2: 0}}, {})
    assert (outcome.response.member_epoch, outcome.response.heartbeat_interval_ms) == (-2, 0)


def test_a_target_that_stays_has_no_new_record() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    joined = driver.sleep(999) and driver.consumers.join("m2", ["bills"])
    assert kinds(joined.records) == ["+Member", "+GroupEpoch", "+Current"]

    driver.sleep(1)
    beat = driver.consumers.beat("m2")

    assert kinds(beat.records) == ["+Target", "+TargetEpoch", "+Current"]
    assert (beat.response.member_epoch, beat.response.assignment) == (3, {BIL: (0,)})
