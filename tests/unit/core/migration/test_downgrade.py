"""Online downgrades: a consumer group turns classic when its last consumer is gone."""

from __future__ import annotations

from typing import Any

from group_coordinator.core.embedded_protocol import read_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import cluster, kinds, target
from tests.unit.core.mixed_groups import add, join, mixed_group, stay_alive, sync

DOWNGRADE = [
    "-Current", "-Current", "-Target", "-Target", "-TargetEpoch",
    "-Member", "-Member", "-PartitionMetadataTombstone", "-GroupEpoch", "+Group",
]  # fmt: skip
REPLACEMENT = ["-Current", "-Target", "-Member", "+Member", "+Target", "+Current", "+Member"]


def classic(driver: GroupDriver) -> ClassicGroup:
    assert driver.group.classic is not None
    return driver.group.classic


def static_group(**settings: Any) -> tuple[GroupDriver, str]:
    """The static consumer m1 (i1) and a classic static member (i2), at epoch 3; the time is 2,000 ms."""
    driver = cluster(**settings)
    driver.consumers.join("m1", ["orders"], instance_id="i1")
    driver.sleep(1_000)
    member_id = add(driver, group_instance_id="i2")
    kept = driver.consumers.beat("m1", {}).response.assignment
    driver.consumers.beat("m1", kept)
    return driver, member_id


def test_the_last_consumer_leaves_and_the_others_rebalance() -> None:
    driver, member_id = mixed_group()
    shall_have = target(driver, member_id)
    held = tuple(next(iter(shall_have.values())))

    outcome = driver.consumers.leave("m1")

    assert kinds(outcome.records) == DOWNGRADE
    assert outcome.response.member_epoch == -1
    group = classic(driver)
    assert (group.state, group.generation) == (ClassicState.PREPARING_REBALANCE, 3)
    assert (group.leader, group.protocol) == (member_id, "range")
    assert read_assignment(group.members[member_id].assignment).assigned == (("orders", held),)
    assert driver.heartbeat(member_id, 3).response.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert join(driver, member_id).response.generation == 4


def test_the_log_of_a_downgrade_rebuilds_the_group() -> None:
    driver, member_id = mixed_group()
    driver.consumers.leave("m1")

    rebuilt = driver.rebuilt().classic

    assert rebuilt is not None
    assert (rebuilt.state, rebuilt.generation) == (ClassicState.STABLE, 3)
    assert list(rebuilt.members) == [member_id]


def test_who_does_not_rejoin_in_time_is_out() -> None:
    driver, member_id = mixed_group()
    driver.consumers.leave("m1")
    while driver.now_ms < 57_000:
        driver.sleep(5_000)
        driver.heartbeat(member_id, 3)

    assert driver.at(61_999).records == ()
    assert kinds(driver.at(62_000).records) == ["+Group"]
    assert (classic(driver).state, classic(driver).generation) == (ClassicState.EMPTY, 4)


def test_nothing_is_left_to_turn_classic() -> None:
    driver, member_id = mixed_group()

    outcome = driver.leave("m1", member_id)

    assert kinds(outcome.records)[-1] == "+TargetEpoch"
    assert driver.group.consumer is not None


def test_a_classic_member_takes_the_last_consumers_place_without_a_rebalance() -> None:
    driver, other_id = static_group()
    held = tuple(next(iter(target(driver, "m1").values())))

    outcome = join(driver, group_instance_id="i1")

    assert kinds(outcome.records) == [*REPLACEMENT, "+Current", *DOWNGRADE]
    member_id = outcome.response.member_id
    assert (outcome.response.error, outcome.response.generation) == (ErrorCode.NONE, 3)
    group = classic(driver)
    assert (group.state, group.generation, group.leader) == (ClassicState.STABLE, 3, other_id)
    assert read_assignment(group.members[member_id].assignment).assigned == (("orders", held),)
    answer = sync(driver, member_id, 3, group_instance_id="i1").response
    assert answer.assignment == group.members[member_id].assignment


def test_a_replacement_leaves_the_group_where_the_policy_forbids_more() -> None:
    driver, _ = static_group(group_consumer_migration_policy="upgrade")

    outcome = join(driver, group_instance_id="i1")

    assert kinds(outcome.records) == [*REPLACEMENT, "+Current"]
    assert driver.group.consumer is not None


def test_what_a_consumer_group_waited_for_counts_again_after_an_upgrade() -> None:
    """Kafka forgets no timer of a member; in a classic group it just has no effect."""
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    member_id = add(driver)
    driver.consumers.leave("m1")
    parked = join(driver, member_id)
    generation = driver.response_to(parked).generation
    assert sync(driver, member_id, generation).response.error is ErrorCode.NONE
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"])

    told = stay_alive(driver, 62_000, member_id, generation, "m2")
    assert told == {ErrorCode.REBALANCE_IN_PROGRESS}
    # A SyncGroup was to come by 62,000 ms to the first consumer group; the JoinGroup to the second has until 63,000.
    assert driver.at(61_999).records == ()
    assert kinds(driver.at(62_000).records) == ["-Current", "-Target", "-Member", "+GroupEpoch"]
