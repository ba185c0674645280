"""Online upgrades: a classic group becomes a consumer group; and empty groups that change their kind."""

from __future__ import annotations

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.consumer_member import CurrentAssignment
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupEpochRecord, TargetEpochRecord
from tests.unit.core.consumer_groups import ORD, STABLE, UNRELEASED, cluster, current, kinds
from tests.unit.core.mixed_groups import classic_group, join, sync


def test_the_first_consumer_makes_it_a_consumer_group() -> None:
    driver, member_id = classic_group()
    driver.commit({"orders": {0: 1}}, member_id, 1)

    outcome = driver.consumers.join("m1", ["orders"])

    assert kinds(outcome.records) == [
        "-Group", "+Member", "+GroupEpoch", "+Target", "+TargetEpoch", "+Current",
        "+Member", "+GroupEpoch", "+Target", "+Target", "+TargetEpoch", "+Current",
    ]  # fmt: skip
    epochs = [r.value.epoch for r in outcome.records if isinstance(r, GroupEpochRecord) and r.value]
    assert epochs == [1, 2]
    first = next(r.value for r in outcome.records if isinstance(r, TargetEpochRecord))
    assert first is not None
    assert (first.epoch, first.timestamp_ms) == (1, 0)
    assert current(driver, member_id) == CurrentAssignment(
        1, 1, STABLE, {ORD: {0: 1, 1: 1, 2: 1}}, {}
    )
    assert current(driver, "m1").state is UNRELEASED
    assert (outcome.response.member_epoch, outcome.response.assignment) == (2, {})
    assert driver.group.offsets["orders"][0].offset == 1


def test_the_log_of_an_upgrade_rebuilds_the_group() -> None:
    driver, _ = classic_group()
    driver.consumers.join("m1", ["orders"])

    rebuilt, group = driver.rebuilt().consumer, driver.group.consumer

    assert rebuilt is not None
    assert group is not None
    assert (rebuilt.members, rebuilt.targets) == (group.members, group.targets)
    assert (rebuilt.epoch, rebuilt.metadata_hash) == (group.epoch, group.metadata_hash)


def test_two_members_with_one_partition_stay_classic() -> None:
    driver = cluster()
    first, second = driver.form(2)
    join(driver, first)
    parked = join(driver, second)
    generation = driver.response_to(parked).generation
    both = encode_assignment({"orders": (0,)})
    sync(driver, first, generation, assignments=((first, both), (second, both)))

    answer = driver.consumers.join("m1", ["orders"]).response

    assert answer.error is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_group_that_is_too_large_stays_classic() -> None:
    driver, _ = classic_group(group_consumer_max_size=1)

    answer = driver.consumers.join("m1", ["orders"]).response

    assert answer.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert driver.group.classic is not None


def test_whoever_waits_in_the_classic_group_is_sent_to_the_new_one() -> None:
    driver, _ = classic_group()
    newcomer = join(driver).response.member_id
    parked = join(driver, newcomer)

    driver.consumers.join("m1", ["orders"])

    answer = driver.response_to(parked)
    assert (answer.error, answer.member_id) == (ErrorCode.REBALANCE_IN_PROGRESS, newcomer)
    assert current(driver, newcomer) == CurrentAssignment(1, 1, STABLE, {}, {})
    assert join(driver, newcomer).response.generation == 2


def test_user_data_of_no_bytes_are_no_custom_assignors() -> None:
    driver, _ = classic_group(encode_assignment({"orders": (0,)}, user_data=b""))

    assert driver.consumers.join("m1", ["orders"]).response.error is ErrorCode.NONE
    assert driver.group.classic is None
