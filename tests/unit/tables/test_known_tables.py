"""A table that was seen before is as new as one that is read anew, whatever others did to it meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import SparkSession

from group_coordinator.tables import writer
from group_coordinator.tables.append import TableWriteError
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE
from group_coordinator.tables.writer import CachedTable, TableCache

SCHEMA = pa.schema([("a", pa.int64())])
MARK = "group-coordinator/test/coordinator_log"
COMMITS_A_CHECKPOINT = 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "coordinator_log")


def made(folder: Path) -> Path:
    configuration = {"delta.checkpointInterval": str(COMMITS_A_CHECKPOINT)}
    DeltaTable.create(folder, pa.schema(SCHEMA), configuration=configuration)
    return folder


def append(table: DeltaTable | Path, mark: int) -> None:
    write_deltalake(
        table,
        pa.table({"a": [mark]}),
        mode="append",
        commit_properties=CommitProperties(app_transactions=[Transaction(MARK, mark)]),
        post_commithook_properties=LEFT_TO_MAINTENANCE,
    )


def append_known(known: CachedTable, mark: int) -> None:
    no_spark = cast("SparkSession", None)
    known.append(no_spark, pa.table({"a": [mark]}), Transaction(MARK, mark))


@contextmanager
def log_away(folder: Path) -> Iterator[None]:
    """Whoever reads the table's log fails."""
    log, aside = folder / "_delta_log", folder / "aside"
    log.rename(aside)
    try:
        yield
    finally:
        aside.rename(log)


def seen(known: TableCache, folder: Path) -> tuple[int, int | None, int]:
    """Version, last mark, number of files."""
    with known.newest(folder) as seen:
        return seen.table.version(), seen.last_mark(MARK), len(seen.table.file_uris())


def test_a_table_that_is_known_is_not_read_again(folder: Path) -> None:
    known = TableCache()
    with known.newest(folder) as first:
        append(first.table, 1)

    with known.newest(folder) as again:
        assert again is first
        assert (again.table.version(), again.last_mark(MARK)) == (1, 1)


def test_after_twenty_commits_it_is_read_again(folder: Path) -> None:
    known = TableCache()
    objects = []
    for mark in range(1, 43):
        with known.newest(folder) as table:
            append(table.table, mark)
        objects.append(table)

    assert [mark for mark, (a, b) in enumerate(pairwise(objects), 2) if a is not b] == [21, 41]


def test_marks_are_read_once_a_version(folder: Path) -> None:
    known = TableCache()
    append(folder, 1)
    with known.newest(folder) as first:
        assert (first.last_mark(MARK), first.last_mark("of-another")) == (1, None)
        append_known(first, 2)
    with known.newest(folder) as again, log_away(folder):
        assert (again.last_mark(MARK), again.last_mark("of-another")) == (2, None)


def test_a_mark_of_another_process_is_seen_after_ones_own(folder: Path) -> None:
    known = TableCache()
    with known.newest(folder) as first:
        assert first.last_mark("of-another") is None
        write_deltalake(
            folder,
            pa.table({"a": [1]}),
            mode="append",
            commit_properties=CommitProperties(app_transactions=[Transaction("of-another", 7)]),
        )
        append_known(first, 1)
        assert (first.last_mark(MARK), first.last_mark("of-another")) == (1, 7)


def test_a_later_mark_of_ones_own_successor_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = TableCache()
    with known.newest(folder) as first:
        assert first.last_mark(MARK) is None
        real = writer.append_on_disk

        def overtaken(table: DeltaTable, *rest: Any) -> None:
            real(table, *rest)
            append(folder, 9)
            table.update_incremental()  # as an append does when it has ended

        monkeypatch.setattr(writer, "append_on_disk", overtaken)
        append_known(first, 1)
        assert first.last_mark(MARK) == 9


def test_what_others_have_written_is_there(folder: Path) -> None:
    known = TableCache()
    assert seen(known, folder) == (0, None, 0)

    for mark in (5, 6):
        append(folder, mark)
    DeltaTable(folder).optimize.compact()

    assert seen(known, folder) == (3, 6, 1)


def test_a_log_of_which_all_was_removed_that_came_since_is_read(folder: Path) -> None:
    known = TableCache()
    seen(known, folder)
    for mark in range(1, COMMITS_A_CHECKPOINT + 3):
        append(folder, mark)
    for version in range(COMMITS_A_CHECKPOINT):
        Path(folder, "_delta_log", f"{version:020}.json").unlink()

    assert seen(known, folder) == (12, 12, 12)


def test_a_table_that_is_gone_is_not_made_again(folder: Path) -> None:
    known = TableCache()
    append(folder, 1)
    seen(known, folder)
    shutil.rmtree(folder)

    with pytest.raises(TableWriteError, match="coordinator_log cannot be written"):
        seen(known, folder)


def test_a_table_that_was_made_anew_is_read_again(folder: Path) -> None:
    known = TableCache()
    for mark in (1, 2):
        append(folder, mark)
    assert seen(known, folder) == (2, 2, 2)
    shutil.rmtree(folder)
    made(folder)

    assert seen(known, folder) == (0, None, 0)


def test_after_a_failure_nothing_is_known(folder: Path) -> None:
    known = TableCache()
    with pytest.raises(OSError, match="disk full"), known.newest(folder) as failed:
        raise OSError("disk full")

    with known.newest(folder) as table:
        assert table is not failed
