from __future__ import annotations

from typing import Any

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
    ("scenario", "offsets", "out_of_log", "without_later_record"),
    [
        (ToEarliest(), {A: 10, B: 0, C: 5}, (), ()),
        (ToLatest(), {A: 50, B: 60, C: 5}, (), ()),
        (ToCurrent(), {A: 40, B: 99, C: 5}, (), ()),
        (ToTime(1_700_000_000_000), {A: 30, B: 60, C: 5}, (), (B, C)),
        (ToOffset(55), {A: 50, B: 55}, (OutOfLog(A, 55, 50),), ()),
        (ToOffset(-1), {A: 10}, (OutOfLog(A, -1, 10),), ()),
        (ShiftBy(-10), {A: 30, B: 60}, (OutOfLog(B, 89, 60),), ()),
        (ShiftBy(3), {A: 43}, (), ()),
        (ToOffsets({A: 20, B: 61}), {A: 20, B: 60}, (OutOfLog(B, 61, 60),), ()),
    ],
)
def test_each_scenario_within_the_log(
    scenario: Scenario,
    offsets: dict[TopicPartition, int],
    out_of_log: Any,
    without_later_record: Any,
) -> None:
    plan = plan_reset(scenario, sorted(offsets, reverse=True), FACTS)

    assert plan == ResetPlan(offsets, out_of_log, without_later_record)
    assert list(plan.offsets) == sorted(offsets)


def test_without_a_committed_offset_there_is_nothing_to_shift() -> None:
    with pytest.raises(NothingToShiftError, match="for partition orders-2 since there is no"):
        plan_reset(ShiftBy(0), [A, C], FACTS)
