from __future__ import annotations

import pytest
from kafka import TopicPartition

from group_coordinator.clients.errors import NothingToShiftError
from group_coordinator.clients.reset_plan import (
    Facts,
    OutOfLog,
    ResetPlan,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToOffsets,
    ToTime,
    plan_reset,
)

A, B, C = (TopicPartition("orders", number) for number in range(3))
FACTS = Facts(
    committed={A: 40, B: 99},
    starts={A: 10, B: 0, C: 5},
    ends={A: 50, B: 60, C: 5},
    by_time={A: 30},
)
"""The group is beyond the end of B's log, and has committed nothing in C, which is empty."""


@pytest.mark.parametrize(
    ("scenario", "offsets"),
    [
        (ToEarliest(), {A: 10, B: 0, C: 5}),
        (ToLatest(), {A: 50, B: 60, C: 5}),
        (ToCurrent(), {A: 40, B: 99, C: 5}),
    ],
)
def test_where_logs_and_groups_are(scenario: Scenario, offsets: dict[TopicPartition, int]) -> None:
    assert plan_reset(scenario, {C, A, B}, FACTS) == ResetPlan(offsets)


def test_partitions_are_in_order() -> None:
    assert list(plan_reset(ToLatest(), [C, B, A], FACTS).offsets) == [A, B, C]


def test_an_offset_is_put_into_the_log() -> None:
    assert plan_reset(ToOffset(55), [A, B], FACTS) == ResetPlan(
        {A: 50, B: 55}, out_of_log=(OutOfLog(A, 55, 50),)
    )
    assert plan_reset(ToOffset(-1), [A], FACTS).out_of_log == (OutOfLog(A, -1, 10),)


def test_a_shift_is_from_where_the_group_is() -> None:
    assert plan_reset(ShiftBy(-10), [A, B], FACTS) == ResetPlan(
        {A: 30, B: 60}, out_of_log=(OutOfLog(B, 89, 60),)
    )
    assert plan_reset(ShiftBy(3), [A], FACTS) == ResetPlan({A: 43})


def test_without_a_committed_offset_there_is_nothing_to_shift() -> None:
    with pytest.raises(NothingToShiftError, match="for partition orders-2 since there is no"):
        plan_reset(ShiftBy(0), [A, C], FACTS)


def test_without_a_later_record_it_is_the_end() -> None:
    assert plan_reset(ToTime(1_700_000_000_000), [A, B, C], FACTS) == ResetPlan(
        {A: 30, B: 60, C: 5}, without_later_record=(B, C)
    )


def test_offsets_of_a_file_are_put_into_the_log() -> None:
    assert plan_reset(ToOffsets({A: 20, B: 61}), [A, B], FACTS) == ResetPlan(
        {A: 20, B: 60}, out_of_log=(OutOfLog(B, 61, 60),)
    )
