from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from group_coordinator.report.section import Scope

NOON = datetime(2025, 6, 2, 12, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "step_s"),
    [
        (1, 60),
        (2.5, 60),
        (2.6, 120),
        (24, 600),
        (25, 600),
        (26, 900),
        (9_000, 604_800),
        (10**6, 24_192_000),
    ],
)
def test_a_chart_has_at_most_150_points_a_line(hours: float, step_s: int) -> None:
    assert Scope(NOON - timedelta(hours=hours), NOON).step_s == step_s


def test_only_whole_steps_are_compared() -> None:
    steps = Scope(NOON - timedelta(minutes=3), NOON).steps()

    assert [step.strftime("%H:%M:%S") for step in steps] == ["11:58:00", "11:59:00"]


def test_steps_begin_where_the_time_begins() -> None:
    whole = Scope(NOON.replace(second=0) - timedelta(minutes=2), NOON.replace(second=0))

    assert [step.strftime("%H:%M:%S") for step in whole.steps()] == ["11:58:00", "11:59:00"]


def test_a_name_cannot_end_its_quotes() -> None:
    scope = Scope(NOON, NOON, "it's' OR 'a' = 'a")

    assert scope.is_of_cluster("own") == "own.cluster_id = 'it''s'' OR ''a'' = ''a'"
