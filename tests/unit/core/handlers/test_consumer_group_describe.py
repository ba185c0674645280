"""ConsumerGroupDescribe (KIP-848)."""

from __future__ import annotations

from group_coordinator.core.acls import ALL_OPERATIONS
from group_coordinator.core.model import requests
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import ORD, ORDERS, cluster


def test_a_reconciling_group() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i", rack_id="r1")
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"], topic_regex="b.*")
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})

    answer = driver.consumers.describe().response

    assert (answer.error, answer.group_id, answer.state) == (ErrorCode.NONE, "g", "Assigning")
    assert (answer.epoch, answer.assignment_epoch, answer.assignor) == (4, 3, "uniform")
    first, second = answer.members
    assert first.member.metadata.rack_id == "r1"
    # What it has to give back is still its own.
    assert first.assignment == ((ORDERS, (0, 1, 2)),)
    assert first.target == ((ORDERS, (0, 1)),)
    assert (second.assignment, second.target) == ((), ((ORDERS, (2,)),))
    assert second.member.metadata.topic_regex == "b.*"
    assert answer.operations is None


def test_operations_are_told_to_who_asks() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    answer = driver.send(requests.ConsumerGroupDescribe("g", asks_for_operations=True), 1).response

    assert answer.operations == ALL_OPERATIONS


def test_what_is_no_consumer_group_is_not_found() -> None:
    unknown = GroupDriver().consumers.describe().response
    assert (unknown.error, unknown.error_message) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        "Group g not found.",
    )
    classic = GroupDriver()
    classic.form()
    answer = classic.consumers.describe().response
    assert answer.error_message == "Group g is not a consumer group."
    assert GroupDriver("").consumers.describe().response.error is ErrorCode.INVALID_GROUP_ID
