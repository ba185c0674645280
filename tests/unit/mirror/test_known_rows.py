"""What is read of tables on this machine's disk, which takes no Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import Transaction, write_deltalake

from group_coordinator.mirror.known_rows import (
    MirrorBatch,
    last_compacted_batch,
    log_of_groups,
    rows_of_groups,
    size_of_log,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import TABLES
from tests.support.log_rows import Log, in_the_table

RETENTION = Retention(retention_ms=60_000, check_interval_ms=10_000)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for table in TABLES:
        table.create_on_disk(tmp_path / table.name)
    return tmp_path


def commits(batch_id: int, *groups: str, cluster_id: str = "live") -> Log:
    log = Log(batch_id, cluster_id=cluster_id)
    for group in groups:
        log.commit(group, "orders", 0, batch_id)
    return log


def fold(root: Path, log: Log) -> None:
    once = Transaction(log.cluster_id, log.batch_id)
    compaction.compact(TableCatalog(str(root)), log.cluster_id, log.entries(), RETENTION, once)


def append(root: Path, log: Log) -> None:
    names = COORDINATOR_LOG.schema.names
    rows = [dict(zip(names, in_the_table(row, log.cluster_id), strict=True)) for row in log.rows]
    table = pa.Table.from_pylist(rows, COORDINATOR_LOG.no_rows().schema)
    write_deltalake(root / COORDINATOR_LOG.name, table, mode="append")


def batch(root: Path, batch_id: int) -> MirrorBatch:
    without_spark = cast("Any", None)
    return MirrorBatch(without_spark, TableCatalog(str(root)), "live", batch_id, RETENTION, {})


def test_the_log_is_read_from_where_compaction_has_come(root: Path) -> None:
    fold(root, commits(7, "billing"))
    fold(root, commits(9, "billing", cluster_id="another"))

    assert last_compacted_batch(batch(root, 20)) == 7
    assert last_compacted_batch(batch(root, 8)) == 6  # the first half of an append that was cut


def test_without_compaction_the_log_is_read_from_its_beginning(root: Path) -> None:
    assert last_compacted_batch(batch(root, 20)) == -1


def test_of_the_log_only_what_lies_between_and_concerns_the_groups_is_read(root: Path) -> None:
    for batch_id in (1, 2, 3, 4):
        append(root, commits(batch_id, "billing", "shipping"))
    append(root, commits(2, "billing", cluster_id="another"))

    found = log_of_groups(batch(root, 4), 1, ["billing", "returns"])

    assert found["group_id"].unique().to_pylist() == ["billing"]
    assert sorted(found["batch_id"].to_pylist()) == [2, 3]
    assert size_of_log(batch(root, 4), 1, ["billing"]) == (
        2,
        sum(len(row["key"]) + len(row["value"]) for row in found.to_pylist()),
    )
    assert size_of_log(batch(root, 4), 1, ["returns"]) == (0, 0)


def test_the_tables_tell_of_the_groups_of_this_cluster(root: Path) -> None:
    fold(root, commits(1, "billing", "shipping"))
    fold(root, commits(2, "billing", cluster_id="another"))

    found = rows_of_groups(batch(root, 4), ["billing", "returns"])

    assert {group: [*rows.offsets] for group, rows in found.items()} == {"billing": [("orders", 0)]}
    assert found["billing"].offsets["orders", 0].committed_offset == 1
