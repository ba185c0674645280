"""Offsets of consumer groups: commits without an epoch, and in transactions before version 6."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    OffsetFetch,
    PartitionCommit,
    TopicCommit,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import ORD, cluster, current, two_members_sharing_orders
from tests.unit.core.requests import txn_commit

NONE = ErrorCode.NONE
OLD = ErrorCode.ILLEGAL_GENERATION
STALE = ErrorCode.STALE_MEMBER_EPOCH
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def committed(
    driver: GroupDriver, member_id: str, epoch: int | None, version: int = 9
) -> ErrorCode:
    """Commit an offset of orders; its error."""
    (topic,) = driver.commit({"orders": {0: 7}}, member_id, epoch, version=version).response.topics
    error: ErrorCode = topic.partitions[0].error
    return error


def committed_in_transaction(
    driver: GroupDriver,
    member_id: str,
    epoch: int | None,
    partition: int = 0,
    instance_id: str | None = None,
) -> ErrorCode:
    topic = TopicCommit("orders", ORD, (PartitionCommit(partition, 7, None, "", None),))
    request = txn_commit(
        topics=(topic,), generation=epoch, member_id=member_id, group_instance_id=instance_id
    )
    (result,) = driver.send(request, 5).response.topics
    error: ErrorCode = result.partitions[0].error
    return error


def fetched(driver: GroupDriver, member_id: str | None, epoch: int | None) -> ErrorCode:
    request = OffsetFetch("g", member_id, epoch, None, require_stable=False)
    error: ErrorCode = driver.send(request, 9).response.error
    return error


@pytest.mark.parametrize(
    ("member_id", "epoch", "version", "expected"),
    [
        ("m1", 2, 9, NONE),
        ("m1", 3, 9, STALE),
        ("m1", 1, 9, STALE),
        ("m1", None, 9, STALE),
        ("m1", 2, 8, ErrorCode.UNSUPPORTED_VERSION),
        ("m1", 3, 8, ErrorCode.UNSUPPORTED_VERSION),
        ("", None, 9, UNKNOWN),
        ("m9", 2, 9, UNKNOWN),
    ],
)
def test_members_commit_at_their_epoch(
    member_id: str, epoch: int | None, version: int, expected: ErrorCode
) -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    assert committed(driver, member_id, epoch, version=version) is expected
    assert bool(driver.group.offsets) is (expected is NONE)


def test_a_member_fetches_at_its_own_epoch_alone() -> None:
    driver = two_members_sharing_orders()

    assert fetched(driver, "m1", 3) is NONE
    assert fetched(driver, "m1", 2) is STALE
    assert fetched(driver, "m1", None) is STALE
    assert fetched(driver, "m9", 3) is UNKNOWN
    assert fetched(driver, "", None) is UNKNOWN
    assert fetched(driver, None, None) is NONE
    # Kafka looks for a member without a name, and breaks down.
    assert fetched(driver, None, 3) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_group_without_members_takes_what_names_no_epoch() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.consumers.leave("m1")

    assert committed(driver, "", None) is NONE
    assert committed(driver, "m1", -2) is NONE
    assert committed(driver, "m1", 2) is UNKNOWN


def test_old_transactions_know_no_member_epochs() -> None:
    driver = two_members_sharing_orders()
    kept, given = current(driver, "m1").assigned[ORD], current(driver, "m2").assigned[ORD]

    assert committed_in_transaction(driver, "m1", 3) is NONE
    assert committed_in_transaction(driver, "m1", 2, next(iter(kept))) is NONE
    assert committed_in_transaction(driver, "m1", 2, next(iter(given))) is OLD
    assert committed_in_transaction(driver, "m1", 4) is OLD
    assert committed_in_transaction(driver, "m1", None) is OLD
    assert committed_in_transaction(driver, "", None) is NONE
    assert committed_in_transaction(driver, "", -2) is UNKNOWN
    assert committed_in_transaction(driver, "", None, instance_id="i1") is UNKNOWN
    assert committed_in_transaction(driver, "m9", 3) is UNKNOWN
