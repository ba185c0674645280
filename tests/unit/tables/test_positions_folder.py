"""Samples in a folder: real Delta tables, no JVM."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable

from group_coordinator import settings
from group_coordinator.tables.append import TableWriteError
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.maintenance import Maintenance
from group_coordinator.tables.maintenance_work import files_held
from group_coordinator.tables.position import Position, ShareOffset
from group_coordinator.tables.samples import (
    SHARE_GROUP_OFFSETS,
    TOPIC_POSITIONS,
    position_rows,
    share_offset_rows,
)
from group_coordinator.tables.samples_store import SamplesFolder

HOUR = 3_600_000
DAY = 24 * HOUR
NOON = 490_000 * HOUR
ORDERS = Position("orders", 0, 100, 108, 110)


@pytest.fixture(params=["", "file://"], ids=["path", "url"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    TOPIC_POSITIONS.create_on_disk(tmp_path / TOPIC_POSITIONS.name)
    return f"{request.param}{tmp_path}"


def folder(root: str, cluster_id: str = "it's") -> SamplesFolder:
    return SamplesFolder(TableCatalog(root), cluster_id, TOPIC_POSITIONS)


def append(to: SamplesFolder, positions: list[Position], at_ms: int) -> None:
    to.append(position_rows(to.cluster_id, positions, at_ms))


def times(of: SamplesFolder) -> list[int]:
    ours = [("cluster_id", "=", of.cluster_id)]
    rows = DeltaTable(of.location).to_pyarrow_table(filters=ours)
    return sorted(int(row["sampled_at"].timestamp() * 1000) for row in rows.to_pylist())


def test_a_sample_is_one_commit(root: str) -> None:
    append(folder(root), [ORDERS, Position("orders", 1, 0, 0, 0)], 1_700_000_000_123)

    table = DeltaTable(folder(root).location)
    at = datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
    assert table.version() == 1
    assert [tuple(row.values()) for row in table.to_pyarrow_table().to_pylist()] == [
        ("it's", "orders", 0, 100, 110, 108, at),
        ("it's", "orders", 1, 0, 0, 0, at),
    ]


def test_old_rows_wait_until_an_hour_of_them_goes_at_once(root: str) -> None:
    ours, other = folder(root), folder(root, "other")
    for at in (NOON, NOON + HOUR - 1, NOON + HOUR, NOON + DAY):
        append(ours, [ORDERS], at)
        append(other, [ORDERS], at)

    assert ours.remove_old(DAY, NOON + DAY + HOUR) == 0
    assert DeltaTable(ours.location).version() == 8
    assert ours.remove_old(DAY, NOON + DAY + HOUR + 1) == 3

    assert times(ours) == [NOON + DAY]
    assert times(other) == [NOON, NOON + HOUR - 1, NOON + HOUR, NOON + DAY]


def test_rows_that_are_exactly_as_old_as_they_may_be_stay(root: str) -> None:
    ours = folder(root)
    for at in (NOON, NOON + HOUR + 1, NOON + HOUR + 2):
        append(ours, [ORDERS], at)

    assert ours.remove_old(DAY, NOON + DAY + HOUR + 1) == 1

    assert times(ours) == [NOON + HOUR + 1, NOON + HOUR + 2]


def test_rows_may_stay_longer_than_a_calendar_goes_back(root: str) -> None:
    ours = folder(root)
    append(ours, [ORDERS], NOON)

    assert ours.remove_old(2**63 - 1, NOON) == 0


def test_a_table_without_rows_has_no_old_ones(root: str) -> None:
    assert folder(root).remove_old(1, NOON) == 0


def test_of_old_days_each_hour_keeps_a_partitions_first_sample(root: str) -> None:
    """A partition that had no leader in the first one has its own first."""
    ours, other = folder(root), folder(root, "other")
    midnight = NOON - NOON % DAY
    late = Position("orders", 1, 0, 7, 7)
    for minute in (0, 30, 59, 60, 61):
        for each in (ours, other):
            append(each, [ORDERS, late] if minute else [ORDERS], midnight + minute * 60_000)
    append(ours, [ORDERS], midnight + DAY)
    append(ours, [ORDERS], midnight + DAY + 1)

    assert not ours.thin(DAY, midnight - 1)
    assert ours.thin(DAY, midnight + 2 * DAY + HOUR)
    assert not ours.thin(DAY, midnight + 3 * DAY - 1)

    of_an_hour = [midnight, midnight + 30 * 60_000, *[midnight + HOUR] * 2]
    assert times(ours) == [*of_an_hour, midnight + DAY, midnight + DAY + 1]
    assert len(times(other)) == 9
    assert ours.thin(DAY, midnight + 3 * DAY)
    assert times(ours) == [*of_an_hour, midnight + DAY]


def test_of_old_days_each_hour_keeps_a_share_groups_first_sample(tmp_path: Path) -> None:
    SHARE_GROUP_OFFSETS.create_on_disk(tmp_path / SHARE_GROUP_OFFSETS.name)
    ours = SamplesFolder(TableCatalog(str(tmp_path)), "it's", SHARE_GROUP_OFFSETS)
    midnight = NOON - NOON % DAY
    for minute, group in [(0, "pickers"), (1, "packers"), (2, "pickers"), (60, "pickers")]:
        offset = ShareOffset(group, "orders", 0, 100, 0, 7)
        ours.append(share_offset_rows("it's", [offset], midnight + minute * 60_000))

    assert ours.thin(DAY, midnight + 2 * DAY)

    assert times(ours) == [midnight, midnight + 60_000, midnight + HOUR]


def test_rows_do_not_go_while_another_process_puts_files_together(tmp_path: Path) -> None:
    TOPIC_POSITIONS.create_on_disk(tmp_path / TOPIC_POSITIONS.name)
    ours = folder(str(tmp_path))
    append(ours, [ORDERS], NOON)

    with (
        files_held(ours.catalog, TOPIC_POSITIONS),
        pytest.raises(TableWriteError, match="topic_positions cannot be written"),
    ):
        ours.remove_old(DAY, NOON + 2 * DAY)

    assert times(ours) == [NOON]


def test_upkeep_is_remembered_in_the_table_itself(root: str) -> None:
    """As `positions` from a scheduler has it: a process a sample."""
    given = replace(settings.load().job, tables_root=root, cluster_id="it's")
    job = replace(given, maintenance_interval_ms=3 * HOUR, maintenance_new_files=4)
    seen = []
    for minute in range(1, 9):
        ours = folder(root)
        append(ours, [ORDERS], NOON + minute * 60_000)
        Maintenance(None, job, [TOPIC_POSITIONS], ours.notebook()).look(NOON + minute * 60_000)
        seen.append(len(DeltaTable(ours.location).file_uris()))

    assert seen == [1, 2, 3, 4, 1, 2, 3, 4]
    assert times(folder(root)) == [NOON + minute * 60_000 for minute in range(1, 9)]

    Maintenance(None, job, [TOPIC_POSITIONS], folder(root).notebook()).look(NOON + 4 * HOUR)
    assert len(DeltaTable(folder(root).location).file_uris()) == 1


def test_a_folder_that_takes_no_rows_is_named(tmp_path: Path) -> None:
    nowhere = folder(f"{tmp_path}/nowhere")

    assert not nowhere.exists()
    with pytest.raises(TableWriteError, match="nowhere/topic_positions cannot be written"):
        append(nowhere, [ORDERS], NOON)
