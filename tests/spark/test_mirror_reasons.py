"""Reasons of a batch's tombstones, from tables, log and batch: on the driver, by Spark, and wherever the tables are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import Transaction, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.mirror import batch_reasons
from group_coordinator.mirror.group_so_far import EXPLAINED
from group_coordinator.mirror.known_rows import MirrorBatch
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, GroupKey, Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.maintenance_work import session_conf
from group_coordinator.tables.topic_ids import TOPIC_IDS
from tests.support.endings import ENDINGS, RETENTION_MS, in_the_table, recording
from tests.support.mirrored_log import MirroredLog, table_rows, tables_of_mirror

pytestmark = pytest.mark.spark

RECORDING = recording()
RETENTION = Retention(RETENTION_MS, check_interval_ms=1_000)
COLUMNS = COORDINATOR_LOG.no_rows().schema
OF_MIRROR = pa.schema(
    [column for column in COLUMNS if column.name not in {"batch_id", "ingested_at"}]
)
QUICK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Of so few rows, compiling what is asked takes nearly all of the time."""


def of_batches() -> list[list[dict[str, Any]]]:
    """The recording in three batches: half a second with deletions, the rest of half a minute, and the rest."""
    start_ms = RECORDING.rows[0]["event_time_ms"]
    ends_ms = [start_ms + 500, start_ms + 30_000]
    batches: list[list[dict[str, Any]]] = [[], [], []]
    for row in RECORDING.rows:
        batch_id = sum(row["event_time_ms"] > end_ms for end_ms in ends_ms)
        batches[batch_id].append(in_the_table(row, batch_id))
    return batches


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Tables after two batches, of which compaction has applied the first."""
    for table in (COORDINATOR_LOG, *COMPACTED, TOPIC_IDS):
        table.create_on_disk(tmp_path / table.name)
    first, second, _ = of_batches()
    log = pa.Table.from_pylist(first + second, COLUMNS)
    write_deltalake(tmp_path / COORDINATOR_LOG.name, log, mode="append")
    entries = pa.Table.from_pylist(first, COLUMNS).select([*GroupKey._fields, *ENTRY_COLUMNS])
    compaction.compact(
        TableCatalog(str(tmp_path)), "live", entries, RETENTION, Transaction("earlier", 0)
    )
    return tmp_path


def explained(
    spark: SparkSession, root: str, batch_id: int, rows: list[dict[str, Any]]
) -> DataFrame:
    decoded = spark.createDataFrame(pa.Table.from_pylist(rows, OF_MIRROR))
    batch = MirrorBatch(spark, TableCatalog(root), "live", batch_id, RETENTION, RECORDING.topics)
    found = batch_reasons.with_reasons(decoded, batch)
    assert found.columns == decoded.columns
    return found


def endings(found: DataFrame) -> dict[str, list[str]]:
    tombstones = found.where(F.col("value").isNull() & F.col("record_type").isin(*EXPLAINED))
    rows = tombstones.orderBy("seq").collect()
    told: dict[str, list[str]] = {}
    for row in rows:
        assert row.inferred == (row.reason != "mirrored")
        name = "group" if row.topic is None else f"{row.topic}-{row.partition}"
        told.setdefault(row.group_id, []).append(f"{name} {row.reason}")
    return told


@pytest.mark.parametrize(
    ("scheme", "most_rows", "batch_id"),
    [("", 50_000, 2), ("file:", 50_000, 2), ("file:", 5, 1)],
    ids=["on the driver", "from tables elsewhere", "by Spark"],
)
def test_a_batch_s_tombstones_tell_why(
    spark: SparkSession,
    filled: Path,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    most_rows: int,
    batch_id: int,
) -> None:
    """Where the second batch is not done yet, it and the last one come as one."""
    monkeypatch.setattr(batch_reasons, "MOST_ROWS", most_rows)
    rows = [row for batch in of_batches()[batch_id:] for row in batch]

    with session_conf(spark, QUICK):
        found = endings(explained(spark, f"{scheme}{filled}", batch_id, rows))

    lost = [
        row["group_id"] for row in rows if row["value"] is None and row["record_type"] in EXPLAINED
    ]
    assert found == {group: ENDINGS[group][-lost.count(group) :] for group in {*lost}}
    assert found["simple deleted"] == ["orders-0 offset-expired", "group group-expired"]


@pytest.mark.parametrize("most_rows", [50_000, 1], ids=["on the driver", "by Spark"])
def test_what_the_topic_has_no_more_is_gone_before_the_batch_s_own_tombstones(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    """Of two offsets one went unseen: it does not keep the group alive that was deleted with the other one."""
    monkeypatch.setattr(batch_reasons, "MOST_ROWS", most_rows)
    known, unseen, own = MirroredLog(), MirroredLog(), MirroredLog()
    known.commit("orders", 0, 1)
    known.commit("refunds", 0, 2)
    unseen.forget("refunds", 0)
    for tombstone in (lambda: own.forget("orders", 0), lambda: own.record(2, None)):
        own.now_ms = 9_000
        tombstone()
    root = tables_of_mirror(tmp_path, known, {})
    gone = table_rows(unseen).drop_columns(["batch_id", "ingested_at"])
    decoded = table_rows(own).drop_columns(["batch_id", "ingested_at"])

    with session_conf(spark, QUICK):
        batch = MirrorBatch(
            *(spark, TableCatalog(root), "eu-1", 2, RETENTION, {"orders": "A", "refunds": "B"}),
            gone=spark.createDataFrame(gone).withColumn("seq", F.lit(-999_999_999)),
        )
        found = batch_reasons.with_reasons(spark.createDataFrame(decoded), batch).collect()

    assert {(row.topic, row.reason) for row in found} == {
        ("orders", "group-deleted"),
        (None, "group-deleted"),
    }


def test_rows_without_tombstones_are_left_as_they_are(spark: SparkSession, filled: Path) -> None:
    rows = [row for row in of_batches()[1] if row["value"] is not None]
    decoded = spark.createDataFrame(pa.Table.from_pylist(rows, OF_MIRROR))
    batch = MirrorBatch(spark, TableCatalog(str(filled)), "live", 2, RETENTION, {})

    assert batch_reasons.with_reasons(decoded, batch) is decoded
