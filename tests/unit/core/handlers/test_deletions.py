"""OffsetDelete and DeleteGroups: the tombstones with their reasons, in order."""

from __future__ import annotations

from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, OffsetRecord, Reason
from group_coordinator.core.model.responses import (
    DeleteGroupResponse,
    OffsetDeleteResponse,
    PartitionResult,
    TopicResult,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core import groups_in_every_state
from tests.unit.core.groups_in_every_state import state_of

NONE = ErrorCode.NONE


def gone(topic: str, partition: int) -> OffsetRecord:
    return OffsetRecord(topic, partition, None, Reason.OFFSET_DELETED)


def result(topic: str, error: ErrorCode, *partitions: int) -> TopicResult:
    return TopicResult(topic, None, tuple(PartitionResult(p, error) for p in partitions))


def test_offsets_of_a_simple_group_are_deleted() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1, 1: 2}, "refunds": {0: 3}})

    outcome = driver.delete_offsets({"orders": [1, 0], "refunds": [0]})

    assert outcome.records == (gone("orders", 1), gone("orders", 0), gone("refunds", 0))
    assert outcome.response == OffsetDeleteResponse(
        NONE, (result("orders", NONE, 1, 0), result("refunds", NONE, 0))
    )
    assert driver.group.offsets == {}


def test_an_empty_group_goes_with_all_its_offsets() -> None:
    driver, _ = groups_in_every_state.left_group()
    driver.commit({"refunds": {10: 1, 9: 2}})

    outcome = driver.delete()

    assert outcome.response == DeleteGroupResponse(ErrorCode.NONE, "g")
    assert outcome.records == (
        OffsetRecord("orders", 0, None, Reason.GROUP_DELETED),
        OffsetRecord("refunds", 9, None, Reason.GROUP_DELETED),
        OffsetRecord("refunds", 10, None, Reason.GROUP_DELETED),
        GroupRecord(None, Reason.GROUP_DELETED),
    )
    assert state_of(driver) is ClassicState.DEAD
    assert driver.group.offsets == {}
    assert driver.next_deadline_ms is None
