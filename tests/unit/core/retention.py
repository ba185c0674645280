"""Groups whose offsets are kept for a minute, and the records of what expires."""

from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, OffsetRecord, Reason
from group_coordinator.testing import GroupDriver

GROUP_GONE = GroupRecord(None, Reason.GROUP_EXPIRED)


def gone(topic: str, partition: int = 0) -> OffsetRecord:
    return OffsetRecord(topic, partition, None, Reason.OFFSET_EXPIRED)


def a_minute_of_retention(sweep_interval_ms: int = 1, **settings: int) -> GroupDriver:
    return GroupDriver(
        offsets_retention_ms=60_000,
        offsets_retention_check_interval_ms=sweep_interval_ms,
        **settings,
    )


def retain(driver: GroupDriver, retention_ms: int | None) -> None:
    """Give the group a retention of its own; None takes it back by deleting the setting."""
    value = None if retention_ms is None else str(retention_ms)
    answer = driver.alter_configs({"offsets.retention.ms": value}).response
    assert answer.error is ErrorCode.NONE, answer.error_message


def check_gone_at(driver: GroupDriver, at_ms: int) -> None:
    """The offset of orders and the group go then and not a moment earlier."""
    assert driver.at(at_ms - 1).records == ()
    assert driver.at(at_ms).records == (gone("orders"), GROUP_GONE)


def keep_alive(driver: GroupDriver, member_id: str, until_ms: int, generation: int = 1) -> None:
    while driver.now_ms < until_ms:
        driver.at(min(until_ms, driver.now_ms + 9_000))
        driver.heartbeat(member_id, generation)
