"""Batches go to a table on S3 by two PUTs each, and commits of others in between are kept.

`tests/end_to_end/test_object_store.py` runs this in a process of its own: the jars of S3 would stay in the session that tests share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.local.jars import s3_jars
from group_coordinator.streaming.checkpoint.object_store import use_s3
from group_coordinator.tables.append import Size, SparkRows
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.writer import Writer
from tests.support import log_rows
from tests.support.go_programs import GoMissingError
from tests.support.object_store import BUCKET, ObjectStore
from tests.support.stores import s3
from tests.support.until import until

pytestmark = pytest.mark.spark

SMALL, LARGE = Size(1, 1), Size(50_001, 1)


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    session: Any = spark
    jvm = session._jvm  # noqa: SLF001 - PySpark has no public way
    for jar in s3_jars():
        url = jvm.java.io.File(str(jar)).toURI().toURL()
        jvm.java.lang.Thread.currentThread().getContextClassLoader().addURL(url)
    try:
        with s3(tmp_path_factory.mktemp("store")) as opened:
            use_s3(spark, replace(settings.load().job, tables_root=f"s3a://{BUCKET}/tables"))
            yield opened.store
    except GoMissingError as missing:
        pytest.skip(str(missing))


@dataclass
class Log:
    """A table of its own, and a writer of it."""

    spark: SparkSession
    writer: Writer

    @property
    def location(self) -> str:
        return self.writer.catalog.location(COORDINATOR_LOG.name)

    @property
    def table(self) -> DeltaTable:
        return DeltaTable(self.location)

    def append(self, batch_id: int, size: Size = SMALL) -> None:
        """A batch with one commit, whose offset is the batch."""
        log = log_rows.Log(batch_id)
        log.commit("g", "orders", 0, batch_id)
        rows = log.frame(self.spark).drop("batch_id", "ingested_at")
        self.writer.append_once(SparkRows(rows, size), COORDINATOR_LOG, batch_id)

    def append_by_another(self, mark: int) -> None:
        properties = CommitProperties(app_transactions=[Transaction("of-another", mark)])
        rows = COORDINATOR_LOG.no_rows()
        write_deltalake(self.location, rows, mode="append", commit_properties=properties)

    def batches(self) -> list[int]:
        return sorted(self.table.to_pyarrow_table()["batch_id"].to_pylist())


@pytest.fixture
def log(spark: SparkSession, store: ObjectStore, tmp_path: Path) -> Iterator[Log]:
    store.requests()
    catalog = TableCatalog(f"s3a://{BUCKET}/{tmp_path.name}")
    COORDINATOR_LOG.create(spark, catalog)
    spark.sparkContext.setLocalProperty("sql.streaming.queryId", "a-query")
    yield Log(spark, Writer(catalog, "test", epoch=1))
    spark.sparkContext.setLocalProperty("sql.streaming.queryId", None)


def test_a_batch_is_two_puts(log: Log, store: ObjectStore) -> None:
    log.append(0)
    store.requests()
    log.append(1)

    data, commit = store.requests()
    folder = log.location.removeprefix(f"s3a://{BUCKET}/")
    assert (data.operation, data.status) == ("PutObject", 200)
    assert data.key.startswith(f"{folder}/part-")
    assert commit == ("PutObject", f"{folder}/_delta_log/{2:020}.json", 200)
    by_spark = log.writer.catalog.read(log.spark, COORDINATOR_LOG.name).collect()
    assert sorted(row.batch_id for row in by_spark) == log.batches() == [0, 1]


def test_a_commit_of_another_in_between_is_kept(log: Log) -> None:
    for batch_id in range(8):
        if batch_id in {2, 6}:
            log.append_by_another(batch_id)
        log.append(batch_id, LARGE if batch_id == 4 else SMALL)

    assert log.batches() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert log.table.transaction_version("of-another") == 6


def test_a_batch_is_taken_once(log: Log) -> None:
    other = replace(log, writer=Writer(log.writer.catalog, "test", epoch=1))
    for batch_id in range(3):
        log.append(batch_id)
        log.append(batch_id)
        other.append(batch_id)

    assert log.batches() == [0, 1, 2]


def checkpoints(store: ObjectStore) -> list[str]:
    """Names of the checkpoints that were written since the last call for requests."""
    return [
        request.key.rpartition("/")[2]
        for request in store.requests()
        if request.operation == "PutObject" and request.key.endswith(".checkpoint.parquet")
    ]


def test_checkpoints_of_the_log_are_made_beside_the_batches(log: Log, store: ObjectStore) -> None:
    made: list[str] = []
    for batch_id in range(40):
        log.append(batch_id)
        if batch_id in {19, 39}:
            until(
                lambda: made.extend(checkpoints(store)) or made, seconds=30, awaited="a checkpoint"
            )
            assert made == [f"{batch_id + 1:020}.checkpoint.parquet"]
            made.clear()

    assert log.batches() == [*range(40)]
