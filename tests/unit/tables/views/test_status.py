"""Whether groups keep up: one story a status, and the false alarms that there must not be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from group_coordinator.clients.sql_tables import rows
from tests.support.group_history import GroupHistory, tables_of
from tests.support.samples import sample

Story = Iterable[tuple[float, int]]
"""(second, offset)"""


def steady(
    commits: int, *, every_s: float = 5, offset: int = 100, step: int = 10, start_s: float = 0
) -> list[tuple[float, int]]:
    return [(start_s + number * every_s, offset + number * step) for number in range(commits)]


def status(root: Path, commits: Story, ends: Iterable[tuple[float, *tuple[int, ...]]]) -> object:
    """Of a group that has committed one partition."""
    group = GroupHistory("reader")
    for seconds, offset in commits:
        group.at(round(seconds * 1_000))
        group.commit({"orders": {0: offset}})
    tables = tables_of(root, group)
    for seconds, end, *held_back in ends:
        sample(tables, seconds, "orders", {0: end}, held_back=sum(held_back))
    [row] = rows(str(tables), "SELECT status FROM group_status")
    assert [row] == rows(str(tables), "SELECT status FROM partition_status")
    return row["status"]


AHEAD = [(number * 30, 1_000 + 300 * number) for number in range(40)]
"""A log that grows by 10 offsets a second, and that nobody keeps up with."""


def test_who_has_read_everything_may_be_silent(tmp_path: Path) -> None:
    assert status(tmp_path, steady(10), [(0, 190), (30, 190), (100_000, 190)]) == "OK"


def test_who_was_idle_has_not_stopped_when_there_is_something_to_read(tmp_path: Path) -> None:
    assert status(tmp_path, steady(10), [(50, 190), (7_200, 190), (7_230, 250)]) == "OK"


@pytest.mark.parametrize(("now_s", "wanted"), [(105, "OK"), (106, "STOP")])
def test_stopped_is_who_is_silent_for_longer_than_its_commits_take(
    now_s: int, wanted: str, tmp_path: Path
) -> None:
    assert status(tmp_path, steady(10), [(0, 1_000), (now_s, 1_000)]) == wanted


@pytest.mark.parametrize(("now_s", "wanted"), [(620, "OK"), (621, "STOP")])
def test_a_window_that_is_not_full_is_taken_for_one_that_is(
    now_s: int, wanted: str, tmp_path: Path
) -> None:
    commits = [(0, 100), (10, 110), (20, 120)]  # nine times 10 s would be 90
    slow = [(seconds * 6.6667, offset) for seconds, offset in commits]

    assert status(tmp_path, slow, [(0, 1_000), (now_s + 113, 1_000)]) == wanted


@pytest.mark.parametrize(("now_s", "wanted"), [(600, "OK"), (601, "STOP")])
def test_a_single_commit_lasts_ten_minutes(now_s: int, wanted: str, tmp_path: Path) -> None:
    assert status(tmp_path, [(0, 100)], [(0, 1_000), (now_s, 1_000)]) == wanted


def test_who_stopped_yesterday_has_stopped(tmp_path: Path) -> None:
    """Of so long ago only the last commit is looked at."""
    assert status(tmp_path, steady(10), [(0, 1_000), (100_000, 1_000)]) == "STOP"


def test_rewound_is_who_has_not_come_up_again(tmp_path: Path) -> None:
    back = [*steady(5), (30, 110)]

    assert status(tmp_path / "back", back, [(0, 1_000), (40, 1_000)]) == "REWIND"
    again = [*back, (35, 140)]
    assert status(tmp_path / "again", again, [(0, 1_000), (40, 1_000)]) == "OK"


def test_stalled_is_who_commits_the_same_offset_while_there_is_something_to_read(
    tmp_path: Path,
) -> None:
    same = steady(10, step=0, start_s=30)

    assert status(tmp_path / "behind", same, [(0, 90), (20, 1_000), (80, 1_000)]) == "STALL"
    assert status(tmp_path / "first", same, [(0, 90), (30, 1_000), (80, 1_000)]) == "STALL"
    assert status(tmp_path / "since", same, [(0, 90), (31, 100), (80, 1_000)]) == "OK"
    assert status(tmp_path / "nine", same[:9], [(0, 90), (20, 1_000), (80, 1_000)]) == "OK"


def test_between_samples_that_are_far_apart_nobody_is_accused(tmp_path: Path) -> None:
    same = steady(10, step=0)

    assert status(tmp_path / "silent", same[:1], [(0, 100), (3_600, 101)]) == "OK"
    assert status(tmp_path / "same", same, [(0, 100), (50, 101)]) == "OK"


def test_warned_of_is_who_goes_on_and_falls_behind(tmp_path: Path) -> None:
    slow, even, fast = (steady(10, step=step, start_s=1_100) for step in (49, 50, 51))
    had_read_all = steady(10, offset=12_000, step=49, start_s=1_100)

    assert status(tmp_path / "slow", slow, AHEAD) == "WARN"
    assert status(tmp_path / "even", even, AHEAD) == "WARN"
    assert status(tmp_path / "fast", fast, AHEAD) == "OK"
    assert status(tmp_path / "had read all", had_read_all, AHEAD) == "OK"


@pytest.mark.parametrize(("behind", "wanted"), [(9.5, "OK"), (12.5, "WARN")])
def test_who_reads_all_the_time_is_behind_by_what_is_written_between_two_commits(
    behind: float, wanted: str, tmp_path: Path
) -> None:
    """Commits are a little more than a second apart, so that each leaves a little more of the ten records of a second."""
    often = [(3.0 * number, 1_000 + 30 * number) for number in range(20)]
    reads = [(40 + 1.001 * number, round(1_400 - behind + 10 * number)) for number in range(10)]

    assert status(tmp_path, reads, often) == wanted


def test_of_commits_before_the_first_sample_nobody_knows_the_lag(tmp_path: Path) -> None:
    slow = steady(10, step=49, start_s=1_100)

    assert status(tmp_path, slow, [row for row in AHEAD if row[0] >= 1_110]) == "OK"


@pytest.mark.parametrize(
    ("commits", "wanted"),
    [
        # Again and again, so that no sample is ten seconds later than the newest commit.
        ([(5.0 * number, 899) for number in range(40)], "AHEAD"),
        # The group reads a log that grows: it commits what the sample has not seen yet.
        ([(5.0 * number, 54 + 30 * (number - 35)) for number in range(40)], "OK"),
        ([(5.0 * number, 54 if number < 37 else 899) for number in range(40)], "OK"),
    ],
)
def test_ahead_of_the_log_is_also_who_goes_on_committing(
    commits: Story, wanted: str, tmp_path: Path
) -> None:
    assert status(tmp_path, commits, [(30.0 * number, 54) for number in range(7)]) == wanted


Positions = Iterable[tuple[float, int, int]]
"""(second, last stable offset, end)"""


@pytest.mark.parametrize(
    ("commits", "positions", "wanted"),
    [
        # The group has read all that a read_committed consumer can.
        (steady(10), [(60, 190, 1_653), (7_200, 190, 1_653)], "HELD"),
        (steady(10, offset=190, step=0), [(0, 190, 1_653), (50, 190, 1_653)], "HELD"),
        # It has more to read, or reads what is not committed yet.
        (steady(10), [(60, 191, 1_653), (7_200, 191, 1_653)], "STOP"),
        (steady(10), [(60, 189, 1_653), (7_200, 189, 1_653)], "STOP"),
        # The transaction has just ended: silence begins anew.
        (steady(10), [(60, 190, 1_653), (7_200, 190, 1_653), (7_260, 1_654, 1_654)], "OK"),
        (steady(10), [(60, 190, 1_653), (7_200, 190, 1_653), (7_261, 1_654, 1_654)], "STOP"),
    ],
)
def test_held_back_is_who_has_read_up_to_an_open_transaction(
    commits: Story, positions: Positions, wanted: str, tmp_path: Path
) -> None:
    ends = ((seconds, end, end - stable) for seconds, stable, end in positions)

    assert status(tmp_path, commits, ends) == wanted


def test_a_loss_is_reported_of_a_group_that_a_transaction_holds_back_too(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"orders": {0: 426}})
    root = tables_of(tmp_path, group)
    sample(root, 60, "orders", {0: 510}, start=500, held_back=10)
    sample(root, 7_200, "orders", {0: 510}, start=500, held_back=10)

    found = rows(str(root), "SELECT status, lag, silent_seconds FROM partition_status")
    assert found == [{"status": "LOSS", "lag": 10, "silent_seconds": 0.0}]


def test_a_loss_lasts_until_the_group_has_passed_the_logs_start(tmp_path: Path) -> None:
    stopped, passed = GroupHistory("stopped"), GroupHistory("passed")
    for group in (stopped, passed):
        group.commit({"orders": {0: 99, 1: 100}})
    passed.at(7_190_000)
    passed.commit({"orders": {0: 100, 1: 100}})
    root = tables_of(tmp_path, stopped, passed)
    sample(root, 60, "orders", {0: 1_000, 1: 1_000})
    sample(root, 7_200, "orders", {0: 1_000, 1: 1_000}, start=100)

    found = "SELECT group_id, status, silent_seconds FROM partition_status ORDER BY 1, `partition`"
    assert [tuple(row.values()) for row in rows(str(root), found)] == [
        ("passed", "OK", 10.0),
        ("passed", "OK", 10.0),
        ("stopped", "LOSS", 7_140.0),
        ("stopped", "STOP", 7_140.0),
    ]
    found = "SELECT group_id, status FROM group_status ORDER BY 1"
    assert [tuple(row.values()) for row in rows(str(root), found)] == [
        ("passed", "OK"),
        ("stopped", "LOSS"),
    ]


def test_a_marker_that_is_removed_is_no_loss(tmp_path: Path) -> None:
    """As of clients that commit the last record's offset + 1: the marker behind it is not a record."""
    group = GroupHistory("reader")
    group.commit({"orders": {0: 190, 1: 189}})
    root = tables_of(tmp_path, group)
    sample(root, 40, "orders", {0: 190, 1: 190}, held_back=10)
    sample(root, 70, "orders", {0: 191, 1: 191})
    sample(root, 7_200, "orders", {0: 191, 1: 191}, start=191)

    found = "SELECT status, lost FROM partition_status JOIN lag USING (topic, `partition`) ORDER BY lost"
    assert [tuple(row.values()) for row in rows(str(root), found)] == [("OK", 1), ("LOSS", 2)]


@pytest.mark.parametrize(
    ("positions", "wanted"),
    [
        # The transaction that is open at second 40 ends: what is left is its marker, whether more was written meanwhile or not.
        ([(40, 180, 190), (70, 191, 191), (7_200, 191, 191)], "OK"),
        ([(40, 100, 150), (70, 191, 191), (7_200, 191, 191)], "OK"),
        # A record more is left; another transaction is open; none was open when the log last grew.
        ([(40, 180, 190), (70, 192, 192), (7_200, 192, 192)], "STOP"),
        ([(40, 180, 189), (70, 189, 191), (7_200, 189, 191)], "STOP"),
        ([(40, 180, 189), (50, 190, 190), (70, 191, 191), (7_200, 191, 191)], "STOP"),
        ([(70, 191, 191), (7_200, 191, 191)], "STOP"),
    ],
)
def test_who_has_read_all_but_the_marker_of_a_transaction_may_be_silent(
    positions: Positions, wanted: str, tmp_path: Path
) -> None:
    """As of clients that commit the offset behind the last record, however long the topic rests: Kafka's tool says 1."""
    ends = [(seconds, end, end - stable) for seconds, stable, end in positions]
    found = status(tmp_path, steady(10), ends)

    assert found == wanted
    times = {
        name: rows(str(tmp_path), f"SELECT lag_seconds, how FROM {name} ORDER BY 1 DESC")  # noqa: S608 - our own names
        for name in ("time_lag", "lag_history WHERE sampled_at > TIMESTAMP '1970-01-01T01:00:00Z'")
    }
    assert [row["lag_seconds"] > 0 for [row] in times.values()] == [wanted == "STOP"] * 2
    assert len({row["how"] for [row] in times.values()}) == 1


def test_an_earlier_life_of_a_name_is_no_rewind(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"orders": {0: 500}})
    group.delete()
    group.commit({"orders": {0: 10}})
    root = tables_of(tmp_path, group)
    sample(root, 1, "orders", {0: 1_000})

    assert rows(str(root), "SELECT status, commits FROM partition_status") == [
        {"status": "OK", "commits": 1}
    ]


def test_the_worst_partition_speaks_for_the_group(tmp_path: Path) -> None:
    group, without_stop = GroupHistory("reader"), GroupHistory("without-stop")
    group.commit({"orders": {0: 100}, "bills": {7: 100}, "gone": {0: 5}})
    for seconds in range(600, 650, 5):
        for each in (group, without_stop):
            each.at(seconds * 1_000)
            each.commit({"orders": {1: 100, 2: 90 - seconds // 10}})
    root = tables_of(tmp_path, group, without_stop)
    sample(root, 0, "orders", {0: 150, 1: 100, 2: 90})
    sample(root, 590, "orders", {1: 200, 2: 90})
    sample(root, 650, "orders", {0: 150, 1: 200, 2: 90})
    sample(root, 650, "bills", {7: 200})

    states = (
        "SELECT topic, `partition`, status FROM partition_status WHERE group_id = 'reader' "
        "ORDER BY topic, `partition`"
    )
    assert [tuple(row.values()) for row in rows(str(root), states)] == [
        ("bills", 7, "OK"),
        ("gone", 0, None),
        ("orders", 0, "STOP"),
        ("orders", 1, "STALL"),
        ("orders", 2, "REWIND"),
    ]
    found = rows(str(root), "SELECT * FROM group_status ORDER BY group_id")
    assert [(row["group_id"], row["status"]) for row in found] == [
        ("reader", "STOP"),
        ("without-stop", "STALL"),
    ]
    assert found[0] == {
        "cluster_id": "test",
        "group_id": "reader",
        "status": "STOP",
        "total_lag": 50 + 100 + 64 + 100,
        "max_lag": 100,
        "max_lag_topic": "bills",
        "max_lag_partition": 7,
        "unknown_partitions": 1,
        "owner": None,
        "tier": None,
        "objective_seconds": None,
    }


def test_of_a_group_whose_topics_are_gone_nothing_is_said(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"gone": {0: 5}})
    root = tables_of(tmp_path, group)
    sample(root, 1, "orders", {0: 150})

    found = "SELECT status, total_lag, max_lag, max_lag_topic, unknown_partitions FROM group_status"
    assert [tuple(row.values()) for row in rows(str(root), found)] == [(None, None, None, None, 1)]
