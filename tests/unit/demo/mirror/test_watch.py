from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from group_coordinator.demo.board import Board
from group_coordinator.demo.mirror.figures import MirrorFigures
from group_coordinator.demo.mirror.watch import TablesWatch
from tests.support.group_history import GroupHistory, tables_of

START = datetime(1970, 1, 1, tzinfo=UTC)
RETENTION = {"offsets_retention_ms": 60_000, "offsets_retention_check_interval_ms": 1_000}


def returns_desk() -> GroupHistory:
    """Is set back by 40 records after two seconds, and loses its offset a minute after its member has left."""
    group = GroupHistory(
        "returns-desk", cluster_id="shop", group_initial_rebalance_delay_ms=0, **RETENTION
    )
    [member] = group.form()
    group.commit({"orders": {0: 40}}, member, 1)
    group.leave(member)
    group.sleep(2_000)
    group.commit({"orders": {0: 0}})
    group.sleep(59_000)
    return group


def slow() -> GroupHistory:
    """Commits one record a second; there are five more each second."""
    group = GroupHistory("slow", cluster_id="shop")
    for second in range(12):
        group.commit({"orders": {0: second}})
        group.sleep(1_000)
    return group


def sample_ends(tables: Path) -> None:
    moments = [START + timedelta(seconds=second) for second in range(12)]
    ends = [20 + 5 * second for second in range(12)]
    columns = {
        "cluster_id": ["shop"] * 12,
        "topic": ["orders"] * 12,
        "partition": pa.array([0] * 12, pa.int32()),
        "log_start_offset": [0] * 12,
        "log_end_offset": ends,
        "last_stable_offset": ends,
        "sampled_at": pa.array(moments, pa.timestamp("us", "UTC")),
    }
    write_deltalake(tables / "topic_positions", pa.table(columns), mode="append")


def test_what_is_new_in_the_tables_is_told_once(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, returns_desk(), slow())
    sample_ends(tables)
    board = Board(MirrorFigures(), 100)
    watch = TablesWatch(str(tables), "", board)
    now = START + timedelta(seconds=65)
    for _ in range(3):
        watch.look(now)
    news = [told.sentence for told in board.frame().told]
    for _ in range(3):
        watch.look(now)

    assert news == [
        "The tables say: returns-desk lost its offsets of orders (1): offset-expired.",
        "The tables say: somebody set returns-desk back by 40 records of orders.",
    ]
    lasting = "The tables say WARN of slow: its lag grows."
    assert [told.sentence for told in board.frame().told] == [*news, lasting]
    figures = board.frame().figures
    assert (figures.statuses, figures.total_lag) == ({"WARN": 1}, 64)
    assert (figures.offset_count, figures.lost_count) == (1, 1)
    assert figures.behind_s == 5


def test_the_tables_have_a_moment_once_commits_and_samples_are_later(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, slow())
    watch = TablesWatch(str(tables), "", Board(MirrorFigures(), 100))
    watch.look(START)

    assert not watch.have(START)  # no sample yet

    sample_ends(tables)
    watch.look(START)

    assert watch.have(START + timedelta(seconds=10))
    assert not watch.have(START + timedelta(seconds=11))
