from __future__ import annotations

from typing import Any

import pytest
from kafka import OffsetAndMetadata, OffsetSpec, TopicPartition
from kafka.admin import OffsetTimestamp

from group_coordinator.clients.admin import offset_operations
from group_coordinator.clients.admin.offset_operations import Positions, ResetSpec, targets
from group_coordinator.clients.errors import (
    NothingToShiftError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from group_coordinator.clients.reset_plan import ShiftBy
from tests.unit.clients.admin.stage import NOON_MS, ORDERS
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS_0 = ORDERS[0]
COMMITTED = {ORDERS_0: OffsetAndMetadata(42, "a note", 3)}
NOT_FOUND: dict[TopicPartition, int] = {}


@pytest.mark.parametrize(
    ("spec", "found", "offset"),
    [
        (OffsetSpec.EARLIEST, NOT_FOUND, 10),
        (OffsetSpec.LATEST, NOT_FOUND, 100),
        (OffsetTimestamp(NOON_MS), {ORDERS_0: 60}, 60),
        (OffsetTimestamp(NOON_MS), NOT_FOUND, 100),
        (ShiftBy(8), NOT_FOUND, 50),
        (ShiftBy(-8), NOT_FOUND, 34),
        (ShiftBy(1_000), NOT_FOUND, 100),
        (ShiftBy(-1_000), NOT_FOUND, 10),
        (10, NOT_FOUND, 10),
        (9, NOT_FOUND, 10),
        (-1, NOT_FOUND, 10),
        (100, NOT_FOUND, 100),
        (101, NOT_FOUND, 100),
    ],
)
def test_an_offset_stays_in_it(
    spec: ResetSpec, found: dict[TopicPartition, int], offset: int
) -> None:
    known = Positions({ORDERS_0: range(10, 100)}, found)

    assert targets({ORDERS_0: spec}, known, COMMITTED) == {ORDERS_0: offset}


def test_another_place_is_not_known() -> None:
    known = Positions({ORDERS_0: range(10, 100)}, NOT_FOUND)

    with pytest.raises(ValueError, match="MAX_TIMESTAMP"):
        targets({ORDERS_0: OffsetSpec.MAX_TIMESTAMP}, known, COMMITTED)


def test_each_partition_may_have_a_time_of_its_own(admin: Any) -> None:
    second_before = OffsetTimestamp(NOON_MS - 1_000)
    specs = {ORDERS[0]: OffsetTimestamp(NOON_MS), ORDERS[1]: second_before}

    assert list(admin.reset_consumer_group_offsets("reports", specs).offsets.values()) == [60, 59]


def test_an_empty_partition_has_one_place() -> None:
    known = Positions({ORDERS_0: range(7, 7)}, NOT_FOUND)

    assert targets({ORDERS_0: 3}, known, {}) == {ORDERS_0: 7}


def test_nothing_changes_if_one_is_unknown(admin: Any, stage: CoordinatorInProcess) -> None:
    before = len(stage.events)

    with pytest.raises(UnknownTopicOrPartitionError, match="Partition orders-9 does not exist"):
        admin.reset_consumer_group_offsets(
            "reports", {ORDERS_0: 20, TopicPartition("orders", 9): 1}
        )
    assert len(stage.events) == before


def test_what_was_not_committed_is_not_shifted(admin: Any) -> None:
    with pytest.raises(
        NothingToShiftError,
        match="Cannot shift offset for partition orders-0 since there is no current committed offset",
    ):
        admin.reset_consumer_group_offsets("new-group", {ORDERS_0: ShiftBy(1)})


def test_a_living_group_refuses(admin: Any) -> None:
    results = admin.reset_consumer_group_offsets("billing", {ORDERS_0: OffsetSpec.EARLIEST})

    assert results.offsets == {ORDERS_0: 10}
    with pytest.raises(UnknownMemberIdError):
        results.partition_result(ORDERS_0)


def test_the_cluster_is_asked_once_and_left(monkeypatch: pytest.MonkeyPatch, admin: Any) -> None:
    opened = []
    cluster = offset_operations.Cluster

    def open_cluster(connection: Any) -> Any:
        opened.append(cluster(connection))
        return opened[-1]

    monkeypatch.setattr(offset_operations, "Cluster", open_cluster)

    admin.reset_consumer_group_offsets("reports", {ORDERS_0: OffsetTimestamp(NOON_MS)}).all()

    assert [one.is_closed for one in opened] == [True]
    assert admin.list_consumer_group_offsets("reports")[ORDERS_0].offset == 60
