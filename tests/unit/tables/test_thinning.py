"""When history changes, and in which steps."""

from __future__ import annotations

import pytest

from group_coordinator.tables.thinning import DAY_MS, HistoryRule, ThinningLimits, cut_now, steps
from group_coordinator.tables.timestamps import FIRST_MS

WEEK, MONTH = HistoryRule(7 * DAY_MS), HistoryRule(7 * DAY_MS, 30 * DAY_MS)
NOON = 100 * DAY_MS + DAY_MS // 2


@pytest.mark.parametrize(
    ("rule", "cut"),
    [
        (HistoryRule(0), None),
        (HistoryRule(0, 30 * DAY_MS), None),
        (WEEK, ThinningLimits(100 * DAY_MS, 93 * DAY_MS, 0)),
        (MONTH, ThinningLimits(100 * DAY_MS, 93 * DAY_MS, 70 * DAY_MS)),
        (HistoryRule(7 * DAY_MS, 1), ThinningLimits(100 * DAY_MS, 93 * DAY_MS, 93 * DAY_MS)),
        (HistoryRule(DAY_MS // 2), ThinningLimits(100 * DAY_MS, 100 * DAY_MS, 0)),
        (HistoryRule(DAY_MS // 2 + 1), ThinningLimits(100 * DAY_MS, 99 * DAY_MS, 0)),
        (HistoryRule(2**63 - 1, 2**63 - 1), ThinningLimits(100 * DAY_MS, FIRST_MS, FIRST_MS)),
    ],
)
def test_history_changes_at_midnights(rule: HistoryRule, cut: ThinningLimits | None) -> None:
    assert cut_now(rule, 0, NOON) == cut


def test_a_day_is_closed_once_and_seven_hours_after_its_end() -> None:
    seven = 101 * DAY_MS + 7 * 3_600_000

    assert cut_now(WEEK, 100 * DAY_MS, seven - 1) is None
    assert cut_now(WEEK, 100 * DAY_MS, seven) == ThinningLimits(101 * DAY_MS, 94 * DAY_MS, 0)


def test_a_day_that_is_open_is_not_thinned_either() -> None:
    six = 101 * DAY_MS + 6 * 3_600_000

    assert cut_now(HistoryRule(1), 0, six) == ThinningLimits(100 * DAY_MS, 100 * DAY_MS, 0)


def test_stretches_that_have_rows_are_a_step_each() -> None:
    cut = ThinningLimits(100 * DAY_MS, 93 * DAY_MS, 40 * DAY_MS)

    assert [*steps(cut, [-9_000, 0, 1, 3])] == [
        ThinningLimits(-278_969 * DAY_MS, -278_969 * DAY_MS, -278_969 * DAY_MS),
        ThinningLimits(31 * DAY_MS, 31 * DAY_MS, 31 * DAY_MS),
        ThinningLimits(62 * DAY_MS, 62 * DAY_MS, 40 * DAY_MS),
        cut,
    ]
    assert [*steps(cut, [2, 3])] == [ThinningLimits(93 * DAY_MS, 93 * DAY_MS, 40 * DAY_MS), cut]
    assert [*steps(cut, [3])] == [cut]
    assert [*steps(cut, [])] == []
