"""Questions to a mirrored cluster's tables: as they are, as they were, and under another retention."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from group_coordinator import settings
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.sql_tables import query
from group_coordinator.clients.what_if import what_if
from tests.support.mirrored_log import tables_of_mirror
from tests.unit.tables.compaction.test_share_fold import ORDERS
from tests.unit.tables.compaction.test_share_fold import joined as share_group
from tests.unit.tables.compaction.test_streams_fold import epoch
from tests.unit.tables.compaction.test_streams_fold import joined as streams_group

CONFIG = settings.load(
    overrides=["offsets.retention.ms=60000", "offsets.retention.check.interval.ms=10000"]
).coordinator
MEMBERS = "SELECT m.group_id, g.group_type, g.state, m.assigned_partitions FROM members m JOIN groups g USING (group_id)"


def as_of_time(seconds: float) -> AsOfTime:
    return AsOfTime(datetime.fromtimestamp(seconds, UTC), CONFIG)


def answer(root: str, sql: str, at: AsOfTime | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = query(root, sql, at).to_pylist()
    return found


@pytest.fixture
def streams(tmp_path: Path) -> str:
    """A streams group with offsets of two topics, of which it reads one; then its member leaves; then comes no record."""
    log = streams_group()
    log.commit("orders", 0, 42)
    log.commit("elsewhere", 0, 43)
    log.now_ms = 200_000
    for record_type in (22, 21, 19):
        log.record(record_type, None, memberId="a")
    log.record(17, epoch(3))
    log.record(17, {"epoch": "many"})
    return tables_of_mirror(tmp_path, log, {})


def test_a_share_group_has_the_names_of_its_topics_from_the_table_of_ids(tmp_path: Path) -> None:
    root = tables_of_mirror(tmp_path, share_group(), {ORDERS: "orders"})
    is_now = [
        {
            "group_id": "g",
            "group_type": "share",
            "state": "Stable",
            "assigned_partitions": [{"topic": "orders", "partition": 0}],
        }
    ]
    assert answer(root, MEMBERS) == answer(root, MEMBERS, as_of_time(5)) == is_now
    [before] = answer(root, MEMBERS, as_of_time(4.5))
    assert before["assigned_partitions"] == []


def test_a_streams_group_as_it_was(streams: str) -> None:
    [was] = answer(streams, MEMBERS, as_of_time(100))
    assert (was["group_type"], was["state"]) == ("streams", "Stable")
    assert {"topic": "orders", "partition": 1} in was["assigned_partitions"]

    assert answer(streams, MEMBERS) == []
    assert answer(streams, "SELECT group_type, state FROM groups") == [
        {"group_type": "streams", "state": "Empty"}
    ]


def test_what_a_streams_group_reads_is_protected_from_another_retention_too(streams: str) -> None:
    found = what_if(streams, as_of_time(199)).to_pylist()
    assert [(row["topic"], row["last_offset"]) for row in found] == [("elsewhere", 43)]

    found = what_if(streams, as_of_time(300)).to_pylist()
    assert [(row["topic"], row["removed_at"].timestamp()) for row in found] == [
        ("elsewhere", 70),
        ("orders", 210),
    ]


def test_a_share_group_loses_no_offsets_by_another_retention(tmp_path: Path) -> None:
    root = tables_of_mirror(tmp_path, share_group(), {})
    assert what_if(root, as_of_time(300)).num_rows == 0
