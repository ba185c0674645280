"""Compaction as a query: it goes on where it was, also where the log's table does not know that any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.driver import coordinator
from group_coordinator.driver.session import MakeSession
from group_coordinator.settings import Settings
from group_coordinator.streaming import compaction_query
from group_coordinator.streaming.compaction_query import CompactionQuery
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.compaction import Compaction
from tests.support.log_rows import Log

pytestmark = pytest.mark.spark


@pytest.fixture
def of_the_log(configured: Settings) -> Settings:
    """The cluster whose rows a test's log has."""
    return replace(configured, job=replace(configured.job, cluster_id="test"))


def append(catalog: TableCatalog, batch_id: int, *groups: str) -> None:
    log = Log(batch_id, now_ms=batch_id * 1_000)
    for group in groups:
        log.commit(group, "orders", 0, batch_id)
    write_deltalake(catalog.location("coordinator_log"), log.table(), mode="append")


def offsets(catalog: TableCatalog) -> dict[str, int]:
    rows = DeltaTable(catalog.location("offsets")).to_pyarrow_table().to_pylist()
    return {row["group_id"]: row["committed_offset"] for row in rows}


def forget_versions(folder: Path) -> None:
    """As Delta does with those that are older than delta.logRetentionDuration, when it writes a checkpoint."""
    table = DeltaTable(folder)
    table.create_checkpoint()
    for version in range(table.version()):
        (folder / "_delta_log" / f"{version:020}.json").unlink(missing_ok=True)


def test_after_weeks_of_standing_still_it_goes_on_with_what_the_tables_have_not(
    spark: SparkSession,
    of_the_log: Settings,
    catalog: TableCatalog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = CompactionQuery(spark, of_the_log)
    append(catalog, 0, "a", "b")
    query.drain()
    append(catalog, 1, "b")
    append(catalog, 2, "c")
    folder = catalog.local_folder("coordinator_log")
    assert folder is not None
    forget_versions(folder)
    append(catalog, 3, "c")
    folded: list[list[int]] = []

    def compact(catalog: TableCatalog, cluster_id: str, log: pa.Table, *arguments: Any) -> None:
        folded.append(sorted(log["batch_id"].to_pylist()))
        local_compact(catalog, cluster_id, log, *arguments)

    local_compact = compaction.compact
    monkeypatch.setattr(compaction, "compact", compact)
    query.drain()

    assert folded == [[1, 2, 3]]
    assert offsets(catalog) == {"a": 0, "b": 1, "c": 3}


def test_a_batch_that_fails_is_not_the_end_of_compact_tables(
    spark: SparkSession,
    of_the_log: Settings,
    catalog: TableCatalog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    append(catalog, 0, "a")
    stop, failures, apply = Event(), iter(["an executor was lost"]), Compaction.apply

    def apply_at_last(compaction: Compaction, log: DataFrame, version: int) -> None:
        for failure in failures:
            raise RuntimeError(failure)
        apply(compaction, log, version)
        stop.set()

    @contextmanager
    def stopped_after_a_batch(_: MakeSession) -> Iterator[tuple[SparkSession, Event]]:
        yield spark, stop

    monkeypatch.setattr(Compaction, "apply", apply_at_last)
    monkeypatch.setattr(compaction_query, "_PAUSE_S", 0)
    monkeypatch.setattr(coordinator, "session_and_stop", stopped_after_a_batch)
    coordinator.run_compaction(of_the_log, lambda: spark, drain=False)

    assert offsets(catalog) == {"a": 0}
