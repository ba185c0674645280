"""Lag and status of share groups, whose start offsets and lags are sampled; they commit nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.support.group_history import GroupHistory, asked, at, label, tables_of
from tests.support.samples import sample, share_sample

LAG = (
    "SELECT `partition`, committed_offset, log_end_offset, lag, lag_from_start, lag_to_stable, lost, ahead "
    "FROM lag ORDER BY `partition`"
)


def pickers(root: Path, *others: GroupHistory) -> Path:
    """Tables with a share group that has a member of orders."""
    group = GroupHistory("pickers", group_initial_rebalance_delay_ms=0)
    group.form(topics=("orders",))
    tables = tables_of(root, group, *others)
    DeltaTable(tables / "groups").update(
        {"group_type": "'share'"}, predicate="group_id = 'pickers'"
    )
    return tables


def test_lag_is_the_brokers_or_reaches_from_the_start_offset_to_the_end(tmp_path: Path) -> None:
    """Of partition 0 five records after the start offset are finished; 2 is of a broker before Kafka 4.2, of 3 nothing is finished."""
    root = pickers(tmp_path)
    sample(root, 10, "orders", dict.fromkeys(range(4), 20), start=4, held_back=2)
    share_sample(
        root, 10, "pickers", "orders", {0: (8, 7), 1: (20, 0), 2: (8, None), 3: (None, None)}
    )

    assert asked(root, LAG) == [
        (0, 8, 20, 7, 7, 5, 0, None),
        (1, 20, 20, 0, 0, 0, 0, None),
        (2, 8, 20, 12, 12, 10, 0, None),
        (3, None, 20, None, None, None, None, None),
    ]
    assert asked(root, "SELECT status, total_lag, max_lag_partition FROM group_status") == [
        ("OK", 19, 2)
    ]
    assert asked(root, "SELECT `partition` FROM at_risk ORDER BY 1") == [(2,)]


def test_lost_records_are_no_lag_of_a_share_group_either(tmp_path: Path) -> None:
    root = pickers(tmp_path)
    sample(root, 10, "orders", {0: 20}, start=15)
    share_sample(root, 10, "pickers", "orders", {0: (8, 12)})

    assert asked(root, LAG) == [(0, 8, 20, 5, 5, 5, 7, None)]
    assert asked(root, "SELECT status FROM partition_status") == [("LOSS",)]


def test_records_that_came_after_the_sampled_end_are_no_lag_yet(tmp_path: Path) -> None:
    root = pickers(tmp_path)
    sample(root, 10, "orders", {0: 20, 1: 20})
    share_sample(root, 10, "pickers", "orders", {0: (8, 13), 1: (22, 3)})

    assert asked(root, "SELECT lag, ahead FROM lag ORDER BY `partition`") == [(12, None), (0, None)]


def test_a_start_offset_lasts_for_five_minutes_of_samples(tmp_path: Path) -> None:
    """As the end of a partition without a leader."""
    root = pickers(tmp_path)
    share_sample(root, 10, "pickers", "orders", {0: (8, 7)})
    for seconds in (10, 310):
        sample(root, seconds, "orders", {0: 20})
    assert asked(root, "SELECT committed_offset, lag FROM lag") == [(8, 7)]

    sample(root, 310.001, "orders", {0: 20})
    assert asked(root, "SELECT committed_offset, lag FROM lag") == [(None, None)]


def test_a_coordinators_group_of_the_same_name_keeps_its_own_offsets(tmp_path: Path) -> None:
    """`positions` samples the share groups of the cluster in which the job has its topics."""
    group = GroupHistory("billing")
    group.commit({"orders": {0: 12}})
    root = tables_of(tmp_path, group)
    sample(root, 10, "orders", {0: 20})
    share_sample(root, 10, "billing", "orders", {0: (15, 5)})

    assert asked(root, "SELECT committed_offset, lag FROM lag") == [(12, 8)]


def test_time_lag_is_that_of_the_first_record_that_is_not_finished(tmp_path: Path) -> None:
    root = pickers(tmp_path)
    for seconds, end in [(10, 100), (20, 120), (40, 160)]:
        sample(root, seconds, "orders", {0: end, 1: end})
        share_sample(root, seconds, "pickers", "orders", {0: (100, 5), 1: (140, 0)})

    assert asked(root, "SELECT lag_seconds, how FROM time_lag ORDER BY `partition`") == [
        (30.0, "exact"),
        (0.0, "exact"),
    ]


def test_each_sample_has_the_lag_of_its_round(tmp_path: Path) -> None:
    """A round without an answer has none, and neither have rounds after the group's end."""
    root = pickers(tmp_path)
    for seconds, end in [(10, 100), (20, 120), (30, 140), (40, 160), (50, 160)]:
        sample(root, seconds, "orders", {0: end})
    for seconds, start, lag in [(10, None, None), (20, 100, 15), (40, 130, None)]:
        share_sample(root, seconds, "pickers", "orders", {0: (start, lag)})

    assert asked(
        root,
        "SELECT sampled_at, committed_offset, log_end_offset, lag, lag_seconds, how "
        "FROM lag_history WHERE group_id = 'pickers' ORDER BY sampled_at",
    ) == [
        (at(20), 100, 120, 15, 10.0, "exact"),
        (at(40), 130, 160, 30, 15.0, "interpolated"),
    ]


Story = Iterable[tuple[float, int, int]]
"""(second, start offset, end)"""


def status(root: Path, story: Story) -> object:
    tables = pickers(root)
    for seconds, start, end in story:
        sample(tables, seconds, "orders", {0: end})
        share_sample(tables, seconds, "pickers", "orders", {0: (start, end - start)})
    [row] = asked(tables, "SELECT status FROM partition_status")
    return row[0]


@pytest.mark.parametrize(("now_s", "wanted"), [(420, "OK"), (421, "STOP")])
def test_stopped_is_a_share_group_whose_start_offset_rests_for_five_minutes(
    now_s: int, wanted: str, tmp_path: Path
) -> None:
    moves = [(30.0 * number, 100 + 10 * number, 1_000) for number in range(5)]

    assert status(tmp_path, [*moves, (now_s, 140, 1_000)]) == wanted


def test_a_share_group_that_has_finished_all_may_rest(tmp_path: Path) -> None:
    moves = [(30.0 * number, 100 + 10 * number, 140) for number in range(5)]

    assert status(tmp_path, [*moves, (7_200, 140, 140), (7_230, 140, 150)]) == "OK"


def test_rewound_is_a_share_group_whose_offsets_were_reset(tmp_path: Path) -> None:
    assert status(tmp_path, [(0, 100, 1_000), (30, 200, 1_000), (60, 50, 1_000)]) == "REWIND"


def test_a_share_group_has_an_objective(tmp_path: Path) -> None:
    root = pickers(tmp_path)
    label(root, ("pickers", "Payments", None, 60))
    for seconds, start in ((0, 20), (60, 20), (120, 20), (180, 45)):
        sample(root, seconds, "orders", {0: 20 + seconds // 6})
        share_sample(root, seconds, "pickers", "orders", {0: (start, None)})

    assert asked(root, "SELECT group_id, owner, met, worst_seconds FROM objectives") == [
        ("pickers", "Payments", 0.75, 120.0)
    ]
