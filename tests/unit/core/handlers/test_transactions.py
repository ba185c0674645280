"""KIP-98 and KIP-447: offsets that count when their transaction is committed."""

from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import (
    GroupRecord,
    OffsetRecord,
    Reason,
    TransactionMarker,
)
from group_coordinator.core.model.requests import EndTxn
from group_coordinator.core.model.responses import (
    EndTxnResponse,
    PartitionResult,
    TopicResult,
    TxnOffsetCommitResponse,
)
from group_coordinator.testing import GroupDriver, Outcome
from tests.unit.core import requests


def pend(driver: GroupDriver, offset: int, *, producer: int = 17, partition: int = 0) -> None:
    entry = requests.at_offset(offset, partition)
    driver.send(requests.txn_commit(entry, producer_id=producer), 3)


def end(
    driver: GroupDriver, *, producer: int = 17, is_commit: bool = True
) -> Outcome[EndTxnResponse]:
    return driver.send(EndTxn(group_id="g", producer_id=producer, is_commit=is_commit), 0)


def committed(driver: GroupDriver) -> dict[int, int]:
    return {p: offset.offset for p, offset in driver.group.offsets.get("orders", {}).items()}


def test_an_offset_waits_for_the_marker() -> None:
    driver = GroupDriver(start_ms=1_000)
    entry = requests.at_offset(42, leader_epoch=5, metadata="note")

    outcome = driver.send(requests.txn_commit(entry), 3)

    offset = requests.committed_offset(42, leader_epoch=5, metadata="note")
    result = TopicResult("orders", None, (PartitionResult(0, ErrorCode.NONE),))
    assert outcome.response == TxnOffsetCommitResponse((result,))
    assert outcome.records == (OffsetRecord("orders", 0, offset, Reason.OFFSET_COMMIT, 17),)
    assert committed(driver) == {}

    ended = end(driver)

    marker = TransactionMarker(17, (("orders", 0, offset),), Reason.TRANSACTION_COMMITTED)
    assert ended.response == EndTxnResponse(ErrorCode.NONE)
    assert ended.records == (marker,)
    assert driver.group.offsets == {"orders": {0: offset}}
    assert driver.group.pending == {}


def test_an_abort_drops_what_waits() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    pend(driver, 2)

    ended = end(driver, is_commit=False)

    assert ended.records == (TransactionMarker(17, (), Reason.TRANSACTION_ABORTED),)
    assert committed(driver) == {0: 1}
    assert driver.group.pending == {}


def test_a_plain_commit_behind_it_stays() -> None:
    driver = GroupDriver()
    pend(driver, 10)
    driver.commit({"orders": {0: 11}})

    assert end(driver).records[0].offsets == ()
    assert committed(driver) == {0: 11}


def test_an_open_transaction_keeps_a_group_without_offsets() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    driver.commit({"orders": {0: 1}})
    pend(driver, 2, partition=1)

    assert driver.at(60_000).records == (OffsetRecord("orders", 0, None, Reason.OFFSET_EXPIRED),)
    end(driver, is_commit=False)
    assert driver.at(61_000).records == (GroupRecord(None, Reason.GROUP_EXPIRED),)
