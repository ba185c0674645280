"""Which commits of an hour stay, told in rows: what the state machine's own logs do not have, mirrored ones may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.thinning import DAY_MS, ThinningLimits, in_portions, thin_in_folder
from group_coordinator.tables.timestamps import FIRST_MS
from tests.support.commit_rows import Row, append, commit, raw

CUT = ThinningLimits(closed_ms=3 * DAY_MS, hourly_ms=2 * DAY_MS, daily_ms=DAY_MS)


def end_of_group(minute: int) -> Row:
    return commit(minute, None, record_type=2, topic=None, partition=None, reason="group-deleted")


def written(root: Path, *rows: Row) -> Path:
    folder = root / COORDINATOR_LOG.name
    COORDINATOR_LOG.create_on_disk(folder)
    append(folder, rows)
    return folder


def minutes_left(root: Path, *rows: Row) -> list[int]:
    """The minutes of the rows that stay; that is what batch_id has here."""
    folder = written(root, *rows)
    thin_in_folder(str(folder), "eu", CUT)
    return sorted(DeltaTable(folder).to_pyarrow_table()["batch_id"].to_pylist())


def test_an_hour_keeps_its_first_and_its_last_commit_and_later_a_day_does(tmp_path: Path) -> None:
    of_a_day = [commit(hour * 60 + minute, 1) for hour in (0, 23) for minute in (0, 1, 58, 59)]
    of_days = [commit(day * 24 * 60 + row["batch_id"], 1) for day in range(4) for row in of_a_day]
    day, h23 = 24 * 60, 23 * 60

    assert minutes_left(tmp_path, *of_days) == [
        *(0, h23 + 59),
        *(day, day + 59, day + h23, day + h23 + 59),
        *(row["batch_id"] for row in of_days[16:]),
    ]


@pytest.mark.parametrize(
    ("middle", "left"),
    [
        (commit(3, 3, principal="User:admin"), [0, 2, 3, 4, 6]),
        (commit(3, 3, ',"topicId":"AAAAAAAAAAAAAAAAAAAAAQ"'), [0, 2, 3, 4, 6]),
        (commit(3, 3, reason="offset-reset"), [0, 2, 3, 4, 6]),
        (commit(3, 3, ',"producerId":7'), [0, 2, 3, 4, 6]),
        (commit(3, None), [0, 2, 3, 4, 6]),
        (end_of_group(3), [0, 2, 3, 4, 6]),
        (commit(3, 1), [0, 2, 3, 6]),
        (commit(3, 9), [0, 3, 4, 6]),
        (commit(3, 3), [0, 6]),
    ],
    ids=[
        *("principal", "topic-id", "reason", "transaction", "tombstone", "life"),
        *("back", "too-far", "ordinary"),
    ],
)
def test_what_is_no_ordinary_commit_stays_with_the_offsets_beside_it(
    tmp_path: Path, middle: Row, left: list[int]
) -> None:
    before = [commit(minute, 2) for minute in (0, 1, 2)]
    behind = [commit(minute, 8) for minute in (4, 5, 6)]

    assert minutes_left(tmp_path, *before, middle, *behind) == left


def test_rows_of_other_clusters_and_of_today_are_left_alone(tmp_path: Path) -> None:
    ours = [commit(minute, minute) for minute in range(5)]
    others = [commit(minute, minute, cluster_id="us") for minute in range(5)]
    today = [commit(3 * 24 * 60 + minute, minute) for minute in range(5)]
    folder = written(tmp_path, *ours, *others, *today)

    thin_in_folder(str(folder), "eu", CUT)

    rows = DeltaTable(folder).to_pyarrow_table().select(["cluster_id", "batch_id"]).to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [
        *(("eu", minute) for minute in (0, 4, *range(4320, 4325))),
        *(("us", minute) for minute in range(5)),
    ]


def test_rows_of_a_group_come_to_lie_side_by_side(tmp_path: Path) -> None:
    rows = [commit(minute, minute, group_id=group) for minute in (0, 1) for group in "bca'"]
    folder = written(tmp_path, *rows)

    thin_in_folder(str(folder), "eu", CUT)

    assert DeltaTable(folder).to_pyarrow_table()["group_id"].to_pylist() == [*"''aabbcc"]


def test_old_rows_that_come_meanwhile_are_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror that reads a topic from its beginning appends old rows: thinning waits for another time."""
    folder = written(tmp_path, *(commit(minute, minute) for minute in range(5)))

    def comes_meanwhile(*rows: Row) -> None:
        def write(*arguments: Any, **options: Any) -> None:
            written(tmp_path, *rows)
            write_deltalake(*arguments, **options)

        name = "group_coordinator.tables.thinning.write_deltalake"
        monkeypatch.setattr(name, write)

    comes_meanwhile(commit(5, 5))
    with pytest.raises(CommitFailedError, match="concurrent transactions added new data"):
        thin_in_folder(str(folder), "eu", CUT)
    assert DeltaTable(folder).to_pyarrow_table().num_rows == 6

    comes_meanwhile(commit(5 * 24 * 60, 6))
    thin_in_folder(str(folder), "eu", CUT)
    batches = DeltaTable(folder).to_pyarrow_table()["batch_id"].to_pylist()
    assert sorted(batches) == [0, 5, 5 * 24 * 60]


def test_a_row_of_any_time_takes_one_commit_and_stops_no_other(tmp_path: Path) -> None:
    """A mirrored record has the time that its client gave it; this one's is of year 1, or the last minute before 1970."""
    folder = written(
        tmp_path,
        *(commit(minute, minute) for minute in range(5)),
        commit(-1, 1, group_id="undated"),
        commit(FIRST_MS // 60_000, 1, group_id="year-1"),
    )

    thin_in_folder(str(folder), "eu", CUT)

    batches = DeltaTable(folder).to_pyarrow_table()["batch_id"].to_pylist()
    assert sorted(batches) == [FIRST_MS // 60_000, -1, 0, 4]
    assert DeltaTable(folder).version() <= 4


def test_a_log_without_old_rows_is_left_alone(tmp_path: Path) -> None:
    folder = written(tmp_path, commit(3 * 24 * 60, 1))

    thin_in_folder(str(folder), "eu", CUT)
    thin_in_folder(str(folder), "us", CUT)

    assert DeltaTable(folder).version() == 1


@pytest.mark.parametrize(
    ("counts", "portions"),
    [
        ([], []),
        ([("", 9)], [("", "")]),
        ([("", 1), ("a", 4), ("b", 1)], [("", "a"), ("b", "b")]),
        ([("a", 1), ("b", 9), ("c", 1)], [("a", "a"), ("b", "b"), ("c", "c")]),
    ],
)
def test_groups_are_taken_in_portions(
    counts: list[tuple[str, int]], portions: list[tuple[str, str]]
) -> None:
    assert [*in_portions(counts, 5)] == portions


def test_messages_that_could_not_be_decoded_stay(tmp_path: Path) -> None:
    """The second one is from another partition of the topic, where its place is that of a commit that goes."""
    rows = [commit(minute, minute) for minute in range(5)]

    assert minutes_left(tmp_path, *rows, raw(2), raw(3)) == [0, 2, 3, 4]
