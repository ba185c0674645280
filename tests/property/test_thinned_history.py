"""History that grew thin says of random groups what the whole says, but for ordinary commits inside an hour or a day."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.sql_tables import query
from group_coordinator.clients.what_if import what_if
from group_coordinator.settings import load
from group_coordinator.tables.compaction.rows import (
    ENTRY_COLUMNS,
    GroupKey,
    GroupRows,
    Retention,
    StoredLogEntry,
    from_arrow,
)
from group_coordinator.tables.compaction.spark import apply_entries
from group_coordinator.tables.thinning import DAY_MS, ThinningLimits, thin_in_folder
from tests.support.group_history import GroupHistory, tables_of
from tests.support.log_rows import EPOCH

RETENTION_MS = 5 * DAY_MS
LIVES, STEPS = 30, 250
HOUR_MS = 3_600_000
DELAYS_MS = (*(0, 1, 60_000) * 4, HOUR_MS // 4, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1, DAY_MS - 1)
CUT = ThinningLimits(closed_ms=30 * DAY_MS, hourly_ms=20 * DAY_MS, daily_ms=6 * DAY_MS)
ORDER = [("group_id", "ascending"), ("batch_id", "ascending"), ("seq", "ascending")]
Row = tuple[Any, ...]


class Tables(NamedTuple):
    whole: Path
    thinned: Path


class Life:
    """A group that somebody reads by, resets, empties and deletes; now and then in transactions."""

    def __init__(self, number: int) -> None:
        self.random = Random(number)  # noqa: S311 - the same lives every time
        self.group = GroupHistory(
            f"g-{number:02}",
            offsets_retention_ms=RETENTION_MS,
            group_max_session_timeout_ms=20 * DAY_MS,
            group_initial_rebalance_delay_ms=0,
        )
        self.member: tuple[str, int] | None = None
        self.offset = 100

    def step(self) -> None:
        self.group.sleep(self.random.choice(DELAYS_MS))
        partition = self.random.randrange(2)
        match self.random.randrange(32):
            case 0:
                self.leave_or_join()
            case 1:
                self.commit(partition, self.random.randrange(self.offset))
            case 2:
                self.group.delete_offsets({"orders": [partition]})
            case 3:
                self.group.commit_in_transaction(17, "orders", partition, self.offset + 5)
            case 4:
                self.group.end_transaction(17, is_commit=self.random.random() < 0.8)
            case 5:
                self.group.principal = self.random.choice([None, "User:a", "User:b"])
            case 6 if self.member is None:
                self.group.delete()
            case _:
                self.offset += self.random.choice([0, 1, 10])
                self.commit(partition, self.offset)

    def commit(self, partition: int, offset: int) -> None:
        self.group.commit({"orders": {partition: offset}}, *(self.member or ()))

    def leave_or_join(self) -> None:
        if self.member is not None:
            self.group.leave(self.member[0])
            self.member = None
            return
        given = self.group.join(session_timeout_ms=20 * DAY_MS).response.member_id
        joined = self.group.join(given, session_timeout_ms=20 * DAY_MS).response
        self.group.sync(given, joined.generation or 0)
        self.member = given, joined.generation or 0


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    lives = [Life(number) for number in range(LIVES)]
    for life in lives:
        for _ in range(STEPS):
            life.step()
    first, *others = [life.group for life in lives]
    first.rows = list(chain(first.rows, *(group.rows for group in others)))
    found = Tables(*(tables_of(tmp_path_factory.mktemp(name), first) for name in Tables._fields))
    thin_in_folder(str(found.thinned / "coordinator_log"), "test", CUT)
    return found


def answers(tables: Tables, sql: str) -> tuple[list[Row], list[Row]]:
    of_each = [query(str(root), sql).to_pylist() for root in tables]
    whole, thinned = ([tuple(row.values()) for row in rows] for rows in of_each)
    return whole, thinned


def test_much_goes(tables: Tables) -> None:
    whole, thinned = answers(
        tables, "SELECT group_id, batch_id, seq FROM coordinator_log ORDER BY 1, 2, 3"
    )

    assert len(thinned) < 0.8 * len(whole)
    assert set(thinned) < set(whole)


@pytest.mark.parametrize(
    "view", ["audit", "lost_offsets", "group_timeline", "expiring_soon", "topic_groups"]
)
def test_what_is_no_ordinary_commit_stays(tables: Tables, view: str) -> None:
    whole, thinned = answers(tables, f"SELECT * FROM {view}")  # noqa: S608 - our own names

    assert len(whole) >= 20
    assert sorted(map(repr, thinned)) == sorted(map(repr, whole))


def folded(root: Path, until_ms: int) -> dict[GroupKey, list[Any]]:
    rows = DeltaTable(root / "coordinator_log").to_pyarrow_table()
    log: dict[GroupKey, list[StoredLogEntry]] = defaultdict(list)
    for row in from_arrow(rows.select([*GroupKey._fields, *ENTRY_COLUMNS])):
        if row["event_time"] < until_ms:
            key = GroupKey(row["cluster_id"], row["group_id"])
            log[key].append(StoredLogEntry(*(row[name] for name in ENTRY_COLUMNS)))
    retention = Retention(RETENTION_MS, 600_000)
    return {
        key: [*apply_entries(key, GroupRows(), entries, retention)]
        for key, entries in sorted(log.items())
    }


def test_groups_and_offsets_are_what_they_were(tables: Tables) -> None:
    whole, thinned = (folded(root, 10**15) for root in tables)

    assert thinned == whole
    assert sum(map(len, whole.values())) > LIVES


@pytest.mark.parametrize("day", [2, 5, 6, 13, 20])
def test_at_midnight_they_are_what_they_were_then(tables: Tables, day: int) -> None:
    """An hour, or a day, keeps its last commit: what is so as of its end is known."""
    whole, thinned = (folded(root, day * DAY_MS) for root in tables)

    assert thinned == whole


def test_an_hour_goes_on_by_as_much_as_it_did(tables: Tables) -> None:
    whole, thinned = answers(
        tables,
        "SELECT group_id, topic, date_trunc('day', `minute`) AS day, sum(advanced) FROM commit_rate "
        "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    )

    assert thinned == whole


def test_no_gap_looks_longer_than_it_was(tables: Tables) -> None:
    """A retention of a day or more would have removed what it would have removed."""
    of_a_day = load(overrides=["offsets.retention.ms=86400000"]).coordinator
    moment = AsOfTime(EPOCH.replace(year=1971), of_a_day)
    whole, thinned = (what_if(str(root), moment) for root in tables)

    assert whole.num_rows >= 20
    assert thinned == whole


def test_a_second_time_nothing_goes(tables: Tables) -> None:
    table = DeltaTable(tables.thinned / "coordinator_log")
    before = table.to_pyarrow_table()
    thin_in_folder(table.table_uri, "test", CUT)

    table.update_incremental()
    assert pa.table(table.to_pyarrow_table()).sort_by(ORDER) == before.sort_by(ORDER)
