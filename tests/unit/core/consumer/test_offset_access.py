"""Offsets of consumer groups: member epochs (KIP-848), one partition's epoch (KIP-1251), expiry and deletion."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    OffsetFetch,
    PartitionCommit,
    TopicCommit,
    TxnOffsetCommit,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import ORD, cluster, current, kinds, two_members_sharing_orders

NONE = ErrorCode.NONE
STALE = ErrorCode.STALE_MEMBER_EPOCH
OLD = ErrorCode.ILLEGAL_GENERATION
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def committed(
    driver: GroupDriver, member_id: str, epoch: int | None, *partitions: int, version: int = 9
) -> ErrorCode:
    """Commit orders; the one error of all partitions."""
    offsets = {"orders": dict.fromkeys(partitions or (0,), 7)}
    answer = driver.commit(offsets, member_id, epoch, version=version).response
    (error,) = {entry.error for topic in answer.topics for entry in topic.partitions}
    return error


def committed_in_transaction(
    driver: GroupDriver,
    member_id: str,
    epoch: int | None,
    partition: int = 0,
    instance_id: str | None = None,
    *,
    version: int = 5,
) -> ErrorCode:
    topic = TopicCommit("orders", ORD, (PartitionCommit(partition, 7, None, "", None),))
    request = TxnOffsetCommit(
        group_id="g",
        producer_id=17,
        generation=epoch,
        member_id=member_id,
        group_instance_id=instance_id,
        topics=(topic,),
    )
    (result,) = driver.send(request, version).response.topics
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


def test_at_an_earlier_epoch_only_what_the_member_had_by_then() -> None:
    driver = two_members_sharing_orders()
    kept, given = current(driver, "m1").assigned[ORD], current(driver, "m2").assigned[ORD]
    first_kept, first_given = next(iter(kept)), next(iter(given))

    assert committed(driver, "m1", 2, *kept) is NONE
    assert committed(driver, "m1", 1, first_kept) is STALE
    assert committed(driver, "m2", 2, first_given) is STALE
    assert committed(driver, "m1", 2, first_kept, first_given) is STALE
    assert first_given not in driver.group.offsets["orders"]


def test_what_a_member_has_yet_to_give_back_it_may_commit() -> None:
    driver = two_members_sharing_orders()
    (kept,) = current(driver, "m1").assigned.values()
    driver.consumers.beat("m1", topic_names=("bills",))

    assert current(driver, "m1").pending_revocation == {ORD: kept}
    assert committed(driver, "m1", 2, *kept) is NONE


def test_a_group_without_members_takes_what_names_no_epoch() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.consumers.leave("m1")

    assert committed(driver, "", None) is NONE
    assert committed(driver, "m1", -2) is NONE
    assert committed(driver, "m1", 2) is UNKNOWN


def test_transactions_know_member_epochs_from_version_6_on() -> None:
    driver = two_members_sharing_orders()
    kept, given = current(driver, "m1").assigned[ORD], current(driver, "m2").assigned[ORD]

    assert committed_in_transaction(driver, "m1", 3, version=6) is NONE
    assert committed_in_transaction(driver, "m1", 2, next(iter(kept)), version=6) is NONE
    assert committed_in_transaction(driver, "m1", 2, next(iter(given)), version=6) is STALE
    assert committed_in_transaction(driver, "m1", 4, version=6) is STALE
    assert committed_in_transaction(driver, "m1", None, version=6) is STALE
    assert committed_in_transaction(driver, "m9", 3, version=6) is UNKNOWN


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


def test_offsets_expire_by_their_commit_even_right_after_the_group_became_empty() -> None:
    driver = cluster(
        start_ms=0, offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000
    )
    driver.consumers.join("m1", ["orders"])
    driver.commit({"orders": {0: 1}, "bills": {0: 1}}, "m1", 2, version=9)
    driver.at(40_000)
    driver.consumers.beat("m1")

    assert [record.topic for record in driver.at(60_000).records] == ["bills"]  # type: ignore[union-attr]

    driver.at(70_000)
    driver.consumers.leave("m1")
    assert kinds(driver.at(71_000).records) == [
        "-Offset",
        "-TargetEpoch",
        "-PartitionMetadataTombstone",
        "-GroupEpoch",
    ]
    assert driver.group.membership is None


def test_a_subscribed_topics_offsets_cannot_be_deleted() -> None:
    driver = cluster()
    driver.consumers.join("m1", topic_regex="ord.*")
    driver.sleep(10)
    driver.commit({"orders": {0: 1}, "bills": {0: 1}}, "m1", 1, version=9)

    answer = driver.delete_offsets({"orders": [0], "bills": [0]}).response

    assert [topic.partitions[0].error for topic in answer.topics] == [
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        NONE,
    ]


def test_only_a_group_without_members_is_deleted_with_all_it_has() -> None:
    driver = two_members_sharing_orders()
    driver.commit({"orders": {0: 1}}, "m1", 3, version=9)
    assert driver.delete().response.error is ErrorCode.NON_EMPTY_GROUP
    driver.consumers.leave("m1")
    driver.consumers.leave("m2")

    outcome = driver.delete()

    assert outcome.response.error is NONE
    assert kinds(outcome.records) == [
        "-Offset",
        "-TargetEpoch",
        "-PartitionMetadataTombstone",
        "-GroupEpoch",
    ]
    assert driver.group.membership is None


def test_describe_groups_does_not_know_consumer_groups() -> None:
    driver = two_members_sharing_orders()

    answer = driver.describe().response
    assert (answer.error, answer.state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert answer.error_message == "Group g is not a classic group."
    assert driver.describe(version=5).response.error is NONE
