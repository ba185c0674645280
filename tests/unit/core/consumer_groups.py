"""What stories of consumer groups begin with: topics, members, partitions."""

from __future__ import annotations

from typing import Any

from group_coordinator.core.model.consumer_member import CurrentAssignment, ReconciliationState
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import Topic
from group_coordinator.testing import GroupDriver

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
BILLS = Topic("bills", "AAAAAAAAAAAAAAAAAAAAAg", 1)
ORD, BIL = ORDERS.topic_id, BILLS.topic_id
STABLE = ReconciliationState.STABLE
UNREVOKED = ReconciliationState.UNREVOKED_PARTITIONS
UNRELEASED = ReconciliationState.UNRELEASED_PARTITIONS


def cluster(*topics: Topic, start_ms: int = 1_000, **settings: Any) -> GroupDriver:
    """A group that knows of these topics; orders and bills by default."""
    driver = GroupDriver(start_ms=start_ms, **settings)
    driver.learn_topics(*(topics or (ORDERS, BILLS)))
    return driver


def two_members_sharing_orders() -> GroupDriver:
    """m1 and m2 have what they shall have of orders, at epoch 3; the time is 4,000 ms."""
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    driver.consumers.join("m2", ["orders"])
    driver.sleep(1_000)
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})
    driver.consumers.beat("m1", {ORD: list(current(driver, "m1").assigned[ORD])})
    driver.sleep(1_000)
    driver.consumers.beat("m2", {})
    return driver


def current(driver: GroupDriver, member_id: str) -> CurrentAssignment:
    """What the member has."""
    assert driver.group.consumer is not None
    return driver.group.consumer.members[member_id].current


def target(driver: GroupDriver, member_id: str) -> dict[str, tuple[int, ...]]:
    """What the member shall have."""
    assert driver.group.consumer is not None
    return driver.group.consumer.target_of(member_id)


def kinds(records: tuple[Record, ...]) -> list[str]:
    """Records in a word each: +Member is a member's metadata, -Member its tombstone."""
    return [
        ("-" if record.value is None else "+") + type(record).__name__.removesuffix("Record")
        for record in records
    ]
