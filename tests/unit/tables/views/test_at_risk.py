"""Unread records that retention removes, or may remove soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.group_history import GroupHistory, asked, tables_of
from tests.support.samples import sample

RISKS = "SELECT `partition`, lost, readable_lag, used_up, seconds_to_loss FROM at_risk ORDER BY `partition`"
HOUR_S = 3_600


def reader(offsets: dict[int, int]) -> GroupHistory:
    """A group without members that commits offsets of orders at time 0."""
    group = GroupHistory("reader")
    group.commit({"orders": offsets})
    return group


def test_the_nearer_the_logs_start_comes_the_less_time_is_left(tmp_path: Path) -> None:
    """In an hour retention removes 500 records."""
    root = tables_of(tmp_path, reader({0: 426, 1: 500, 2: 740, 3: 751, 4: 1_000}))
    sample(root, 0, "orders", dict.fromkeys(range(5), 1_000))
    sample(root, HOUR_S, "orders", dict.fromkeys(range(5), 1_000), start=500)

    assert asked(root, RISKS) == [
        (0, 74, 500, 1.0, 0.0),
        (1, 0, 500, 1.0, 0.0),
        (2, 0, 260, 0.52, 1_728.0),
    ]


@pytest.mark.parametrize(
    ("rest_s", "seconds_to_loss"), [(5 * HOUR_S, 43_200.0), (5 * HOUR_S + 1, None)]
)
def test_the_pace_is_that_of_the_last_six_hours(
    rest_s: int, seconds_to_loss: float | None, tmp_path: Path
) -> None:
    root = tables_of(tmp_path, reader({0: 300}))
    for seconds, start in [(0, 0), (HOUR_S, 100), (HOUR_S + rest_s, 100)]:
        sample(root, seconds, "orders", {0: 1_000}, start=start)

    assert asked(root, RISKS) == [(0, 0, 700, pytest.approx(7 / 9), seconds_to_loss)]


def test_a_log_that_was_made_again_has_a_pace_when_the_other_is_forgotten(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader({0: 7}))
    for seconds, start, end in [(0, 900, 1_000), (60, 0, 15), (120, 5, 15)]:
        sample(root, seconds, "orders", {0: end}, start=start)
    assert asked(root, RISKS) == [(0, 0, 8, 0.8, None)]

    sample(root, 60 + 6 * HOUR_S, "orders", {0: 15}, start=5)
    assert asked(root, RISKS) == [(0, 0, 8, 0.8, 8_640.0)]


def test_in_an_empty_log_there_is_nothing_more_to_lose(tmp_path: Path) -> None:
    root = tables_of(tmp_path, reader({0: 426, 1: 500}))
    sample(root, 0, "orders", {0: 500, 1: 500})
    sample(root, HOUR_S, "orders", {0: 500, 1: 500}, start=500)

    assert asked(root, RISKS) == [(0, 74, 0, None, None)]


def test_records_are_at_risk_of_the_groups_that_would_read_them(tmp_path: Path) -> None:
    """A commit or a subscription counts; a group that has left the topic, or is ahead of the log, reads none of its records."""
    subscribed, left = (
        GroupHistory(name, group_initial_rebalance_delay_ms=0) for name in ("subscribed", "left")
    )
    subscribed.form(topics=("orders",))
    left.commit({"orders": {0: 5}})
    left.form(topics=("refunds",))
    ahead = GroupHistory("ahead")
    ahead.commit({"orders": {0: 900}})
    root = tables_of(tmp_path, subscribed, left, ahead, reader({0: 5}))
    for seconds in (0, 60):
        sample(root, seconds, "orders", {0: 20, 1: 20})

    assert asked(
        root,
        "SELECT group_id, `partition`, committed_offset, lost, used_up FROM at_risk ORDER BY 1, 2",
    ) == [
        ("reader", 0, 5, 0, 0.75),
        ("subscribed", 0, None, None, 1.0),
        ("subscribed", 1, None, None, 1.0),
    ]
