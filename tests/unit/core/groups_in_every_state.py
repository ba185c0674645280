"""A group brought to each state that it can be in, and the ids of those who are, or were, in it."""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, Reason
from group_coordinator.testing import GroupDriver

EMPTY, PREPARING, COMPLETING, STABLE, _ = ClassicState


class GroupInState(NamedTuple):
    driver: GroupDriver
    member_ids: list[str]


def membership_of(driver: GroupDriver) -> ClassicGroup:
    assert driver.group.membership is not None
    return driver.group.membership


def state_of(driver: GroupDriver) -> ClassicState:
    membership = driver.group.membership
    return ClassicState.DEAD if membership is None else membership.state


def became_empty(at_ms: int, generation: int, reason: Reason) -> GroupRecord:
    """What a group of consumers writes when its last member is gone."""
    return GroupRecord(
        GroupMetadata(
            protocol_type="consumer",
            generation=generation,
            protocol=None,
            leader=None,
            state_timestamp_ms=at_ms,
            members=(),
        ),
        reason,
    )


def stable(driver: GroupDriver, *, static: str = "i") -> list[str]:
    """A dynamic leader, a dynamic follower and a static one, in generation 1 at 6,000."""
    joins = [driver.join(version=3), driver.join(version=3), driver.join(instance_id=static)]
    driver.at(6_000)
    leader, *followers = [driver.response_to(join).member_id for join in joins]
    for member_id in (*followers, leader):
        driver.sync(member_id, 1)
    return [leader, *followers]


def no_group() -> GroupInState:
    return GroupInState(GroupDriver(), [])


def simple_group() -> GroupInState:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    return GroupInState(driver, [])


def group_of_a_pending_id() -> GroupInState:
    driver = GroupDriver()
    return GroupInState(driver, [driver.join().response.member_id])


def left_group() -> GroupInState:
    driver = GroupDriver()
    ids = driver.form(2)
    driver.commit({"orders": {0: 1}}, ids[0], 1)
    driver.leave(*ids)
    return GroupInState(driver, ids)


def first_join_phase() -> GroupInState:
    driver = GroupDriver()
    driver.join(version=3)
    driver.join(instance_id="i")
    pending = driver.join().response.member_id
    return GroupInState(driver, [*membership_of(driver).members, pending])


def later_join_phase() -> GroupInState:
    driver = GroupDriver()
    ids = stable(driver)
    driver.commit({"orders": {0: 1}}, ids[0], 1)
    pending = driver.join().response.member_id
    driver.join(ids[0])
    return GroupInState(driver, [*ids, pending])


def sync_phase() -> GroupInState:
    driver = GroupDriver()
    ids = stable(driver)
    for member_id, instance_id in zip(ids, (None, None, "i"), strict=True):
        driver.join(member_id, instance_id=instance_id)
    driver.sync(ids[1], 2)
    return GroupInState(driver, [*ids, driver.join().response.member_id])


def stable_group() -> GroupInState:
    driver = GroupDriver()
    ids = stable(driver)
    driver.commit({"orders": {0: 1}}, ids[0], 1)
    return GroupInState(driver, [*ids, driver.join().response.member_id])


GROUPS_IN_EVERY_STATE = {
    "no group": (no_group, ClassicState.DEAD),
    "a simple group": (simple_group, ClassicState.EMPTY),
    "a group of a pending id": (group_of_a_pending_id, ClassicState.EMPTY),
    "a group that all have left": (left_group, ClassicState.EMPTY),
    "the first join phase": (first_join_phase, ClassicState.PREPARING_REBALANCE),
    "a later join phase": (later_join_phase, ClassicState.PREPARING_REBALANCE),
    "a sync phase": (sync_phase, ClassicState.COMPLETING_REBALANCE),
    "a stable group": (stable_group, ClassicState.STABLE),
}
