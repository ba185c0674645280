"""Totals that no kill, repeat or restart makes wrong."""

from __future__ import annotations

import pytest
from msgspec import json

from group_coordinator.runtime.outputs import RebalancingLine
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.small_batch import BatchMeters
from tests.support.files import FilesInMemory

COMMITS = "offset-commit"


class Tables:
    """What batches left in the tables, and which questions there were."""

    def __init__(self) -> None:
        self.batches: dict[int, int] = {}
        self.asked: list[tuple[int, int]] = []

    def count(self, after: int, before: int) -> dict[str, int]:
        self.asked.append((after, before))
        return {COMMITS: sum(n for batch, n in self.batches.items() if after < batch < before)}


@pytest.fixture
def files() -> FilesInMemory:
    return FilesInMemory()


@pytest.fixture
def tables() -> Tables:
    return Tables()


def write(totals: MeterTotals, tables: Tables, batch_id: int, commits: int) -> bool:
    tables.batches[batch_id] = commits
    return totals.add(batch_id, BatchMeters({COMMITS: commits}))


def test_a_batch_that_is_done_again_counts_once(files: FilesInMemory, tables: Tables) -> None:
    totals = MeterTotals(files, tables.count)

    assert write(totals, tables, 0, 5)
    assert not write(totals, tables, 0, 5)
    assert write(totals, tables, 1, 2)

    assert totals.counts() == {COMMITS: 7}
    assert tables.asked == []


def test_an_orderly_restart_asks_nobody(files: FilesInMemory, tables: Tables) -> None:
    before = MeterTotals(files, tables.count)
    write(before, tables, 0, 5)
    before.keep()

    after = MeterTotals(files, tables.count)
    write(after, tables, 1, 2)
    after.make_up()

    assert after.counts() == {COMMITS: 7}
    assert tables.asked == []


def test_what_a_kill_lost_is_counted_in_the_tables(files: FilesInMemory, tables: Tables) -> None:
    before = MeterTotals(files, tables.count)
    write(before, tables, 0, 5)
    before.keep()
    for batch_id in (1, 2, 3):
        write(before, tables, batch_id, 10)

    after = MeterTotals(files, tables.count)
    write(after, tables, 3, 10)  # it was open
    assert after.counts() is None
    after.keep()
    after.make_up()
    after.make_up()

    assert after.counts() == {COMMITS: 35}
    assert tables.asked == [(0, 3)]
    after.keep()
    again = MeterTotals(files, tables.count)
    write(again, tables, 4, 1)
    assert again.counts() == {COMMITS: 36}


def test_a_batch_that_was_open_when_it_was_kept_does_not_count_again(
    files: FilesInMemory, tables: Tables
) -> None:
    before = MeterTotals(files, tables.count)
    write(before, tables, 0, 5)
    before.keep()

    after = MeterTotals(files, tables.count)
    assert not write(after, tables, 0, 5)
    after.make_up()
    assert after.counts() is None
    write(after, tables, 1, 1)

    assert after.counts() == {COMMITS: 6}
    assert tables.asked == []


def test_without_a_file_the_whole_log_is_counted(files: FilesInMemory, tables: Tables) -> None:
    tables.batches = {0: 100, 7: 1}
    totals = MeterTotals(files, tables.count)
    write(totals, tables, 8, 1)
    totals.make_up()

    assert totals.counts() == {COMMITS: 102}
    assert tables.asked == [(-1, 8)]


def test_it_is_kept_only_when_there_is_more(files: FilesInMemory, tables: Tables) -> None:
    totals = MeterTotals(files, tables.count)
    totals.keep()
    assert files.texts == {}
    write(totals, tables, 0, 5)
    totals.keep()
    totals.keep()

    assert files.names_in("meters") == {"0"}


def said(**states: str | None) -> list[str]:
    return [json.encode(RebalancingLine(group, state)).decode() for group, state in states.items()]


def test_who_rebalances_is_known_after_an_orderly_restart(
    files: FilesInMemory, tables: Tables
) -> None:
    before = MeterTotals(files, tables.count)
    before.add(0, BatchMeters({}, said(a="PreparingRebalance", b="PreparingRebalance")))
    before.add(1, BatchMeters({}, said(a="CompletingRebalance", b=None)))
    before.keep()

    after = MeterTotals(files, tables.count)
    after.add(2, BatchMeters())
    assert after.rebalancing() == {"a": "CompletingRebalance"}


def test_who_rebalances_is_asked_again_after_a_kill(files: FilesInMemory, tables: Tables) -> None:
    """It may have come to its end meanwhile."""
    before = MeterTotals(files, tables.count)
    before.add(0, BatchMeters({}, said(a="PreparingRebalance")))
    before.keep()

    after = MeterTotals(files, tables.count)
    after.add(2, BatchMeters({}, said(b="PreparingRebalance")))
    assert after.rebalancing() == {"b": "PreparingRebalance"}
