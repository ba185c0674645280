"""Appends that a redone batch does not repeat.

On a local disk small appends go through the deltalake package: it writes the same commit as Spark in a fiftieth of the
time, which is most of the time between two batches. Both leave the same mark in the table's log, so that either sees
what the other has appended.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import BATCH_ID, INGESTED_AT, TableDefinition
from group_coordinator.tables.driver_limits import MOST_BYTES, MOST_ROWS


class Size(NamedTuple):
    """How much is to be appended."""

    rows: int
    bytes: int

    @property
    def fits_the_driver(self) -> bool:
        """Whether the driver may hold it."""
        return self.rows <= MOST_ROWS and self.bytes <= MOST_BYTES


class TableWriteError(RuntimeError):
    """A table's folder does not take a batch: it is full, or is no table any more; the message names it."""


def append_once(
    rows: DataFrame, size: Size, catalog: TableCatalog, table: TableDefinition, batch_id: int
) -> None:
    """Append the rows, and with them batch and time, unless the running query has appended this batch or a later one."""
    application = f"{running_query_id(rows.sparkSession)}:{table.name}"
    folder = catalog.local_folder(table.name)
    if folder is not None and size.fits_the_driver:
        _append_without_job(rows, folder, table, Transaction(application, batch_id))
        return
    writer = (
        rows.withColumns(
            {
                BATCH_ID.name: F.lit(batch_id).cast("long"),
                INGESTED_AT.name: F.current_timestamp(),
            }
        )
        .select(*table.schema.names)
        .write.format("delta")
        .mode("append")
        .option("txnAppId", application)
        .option("txnVersion", batch_id)
    )
    catalog.save(writer, table.name)


def _append_without_job(
    rows: DataFrame, folder: Path, definition: TableDefinition, transaction: Transaction
) -> None:
    with _write_errors(folder):
        table = DeltaTable(folder)
        done = table.transaction_version(transaction.app_id)
    if done is None or done < transaction.version:
        batch = _of_batch(rows.toArrow(), definition, transaction.version)
        properties = CommitProperties(app_transactions=[transaction])
        with _write_errors(folder):
            write_deltalake(table, batch, mode="append", commit_properties=properties)


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    """Delta's errors do not say which table they are about."""
    try:
        yield
    except (DeltaError, OSError) as error:
        raise TableWriteError(f"{folder} cannot be written: {error}") from error


def _of_batch(rows: pa.Table, definition: TableDefinition, batch_id: int) -> pa.Table:
    """Constants in Spark's plan would make it compile the plan anew for every batch."""
    now_us = time.time_ns() // 1_000
    batch = pa.repeat(pa.scalar(batch_id, pa.int64()), len(rows))
    ingested = pa.repeat(pa.scalar(now_us, pa.timestamp("us", "UTC")), len(rows))
    whole = rows.append_column(BATCH_ID.name, batch).append_column(INGESTED_AT.name, ingested)
    return whole.select(definition.schema.names)


def running_query_id(spark: SparkSession) -> str:
    """The id of the query whose batch this thread runs; it is the same for the life of a checkpoint."""
    query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query_id is None:
        raise RuntimeError("not called from a batch of a streaming query")
    return query_id
