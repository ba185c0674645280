"""Two clusters side by side, of which one is the other's copy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from group_coordinator.tables.claims import WRITERS
from tests.support.group_history import GroupHistory, asked, at, tables_of

DIFFERENCES = (
    "SELECT group_id, topic, `partition`, committed_offset, other_committed_offset, difference, missing_in "
    "FROM cluster_differences WHERE cluster_id = '{}' AND other_cluster_id = '{}' "
    "ORDER BY group_id, topic NULLS FIRST, `partition`"
)


def compared(root: Path, cluster_id: str, other: str) -> list[tuple[Any, ...]]:
    return asked(root, DIFFERENCES.format(cluster_id, other))


def group(
    cluster_id: str, group_id: str, offsets: Mapping[str, Mapping[int, int]], start_ms: int = 0
) -> GroupHistory:
    history = GroupHistory(group_id, cluster_id=cluster_id, start_ms=start_ms)
    history.commit(offsets)
    return history


def test_only_what_differs_has_rows(tmp_path: Path) -> None:
    root = tables_of(
        tmp_path,
        group("eu-1", "billing", {"orders": {0: 10, 1: 20, 2: 30, 3: 40}}),
        group("eu-2", "billing", {"orders": {0: 10, 1: 15, 2: 33}, "bills": {0: 5}}),
        group("eu-1", "equal", {"orders": {0: 1}}),
        group("eu-2", "equal", {"orders": {0: 1}}),
        group("us", "elsewhere", {"orders": {0: 1}}),
    )

    assert compared(root, "eu-1", "eu-2") == [
        ("billing", "bills", 0, None, 5, None, "eu-1"),
        ("billing", "orders", 1, 20, 15, 5, None),
        ("billing", "orders", 2, 30, 33, -3, None),
        ("billing", "orders", 3, 40, None, None, "eu-2"),
    ]
    assert compared(root, "eu-2", "eu-1") == [
        ("billing", "bills", 0, 5, None, None, "eu-1"),
        ("billing", "orders", 1, 15, 20, -5, None),
        ("billing", "orders", 2, 33, 30, 3, None),
        ("billing", "orders", 3, None, 40, None, "eu-2"),
    ]


def test_a_group_of_one_cluster_has_a_row_of_its_own(tmp_path: Path) -> None:
    members_only = GroupHistory("members", cluster_id="eu-2")
    members_only.form()
    root = tables_of(tmp_path, group("eu-1", "billing", {"orders": {0: 10}}), members_only)

    assert compared(root, "eu-1", "eu-2") == [
        ("billing", None, None, None, None, None, "eu-2"),
        ("billing", "orders", 0, 10, None, None, "eu-2"),
        ("members", None, None, None, None, None, "eu-1"),
    ]


def test_no_offset_is_what_a_negative_one_means(tmp_path: Path) -> None:
    root = tables_of(
        tmp_path,
        group("eu-1", "billing", {"orders": {0: -1, 1: -1}}),
        group("eu-2", "billing", {"orders": {0: 7, 1: -2}}),
    )

    assert compared(root, "eu-1", "eu-2") == [("billing", "orders", 0, None, 7, None, "eu-1")]


def test_the_times_of_both_commits_show_a_copy_on_its_way(tmp_path: Path) -> None:
    root = tables_of(
        tmp_path,
        group("eu-1", "billing", {"orders": {0: 10}}, start_ms=60_000),
        group("eu-2", "billing", {"orders": {0: 9}}, start_ms=30_000),
    )

    sql = "SELECT commit_timestamp, other_commit_timestamp FROM cluster_differences WHERE cluster_id = 'eu-1'"
    assert asked(root, sql) == [(at(60), at(30))]


def test_a_cluster_without_any_group_lacks_all_groups(tmp_path: Path) -> None:
    root = tables_of(tmp_path, group("eu-1", "billing", {"orders": {0: 10}}))
    claim = {
        "cluster_id": "eu-2",
        "epoch": 1,
        "writer_id": "w",
        "checkpoint": "c",
        "events_topic": "__consumer_offsets",
        "program_version": "0.4.0",
        "claimed_at": datetime.fromtimestamp(0, UTC),
    }
    rows = pa.Table.from_pylist([claim], WRITERS.no_rows().schema)
    write_deltalake(root / WRITERS.name, rows, mode="append")

    assert compared(root, "eu-1", "eu-2") == [
        ("billing", None, None, None, None, None, "eu-2"),
        ("billing", "orders", 0, 10, None, None, "eu-2"),
    ]
