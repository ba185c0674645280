"""Appends that leave a mark, by which the next one sees what the table has; and how much data the driver may hold.

On a local disk small appends go through the deltalake package: it writes the same commit as Spark in a fiftieth of the
time, which is most of the time between two batches. Both leave the same mark in the table's log, so that either sees
what the other has appended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.catalog_managed import opening
from group_coordinator.tables.commit_lock import commit_of_deltalake
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.delta_errors import in_one_line
from group_coordinator.tables.old_log import LEFT_TO_UPKEEP

MOST_ROWS = 50_000
"""Rows that the driver may hold."""
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of rows that the driver may hold."""


Frame = TypeVar("Frame", pa.Table, pa.RecordBatch)


class Size(NamedTuple):
    """How much is to be appended."""

    rows: int
    bytes: int

    @property
    def fits_the_driver(self) -> bool:
        """Whether the driver may hold it."""
        return self.rows <= MOST_ROWS and self.bytes <= MOST_BYTES


class Rows(Protocol):
    """Rows of a table, except the columns that the writer adds: for the driver, or in Spark."""

    @property
    def spark(self) -> SparkSession:
        """Where they come from."""

    @property
    def fits_the_driver(self) -> bool:
        """Whether `arrow` may be called."""

    def arrow(self) -> pa.RecordBatchReader:
        """The rows, to be read once."""

    def frame(self) -> DataFrame:
        """The rows, in Spark."""


@dataclass(frozen=True, slots=True)
class SparkRows:
    """Rows of a DataFrame."""

    rows: DataFrame
    size: Size

    @property
    def spark(self) -> SparkSession:
        """As Rows."""
        return self.rows.sparkSession

    @property
    def fits_the_driver(self) -> bool:
        """As Rows."""
        return self.size.fits_the_driver

    def arrow(self) -> pa.RecordBatchReader:
        """As Rows."""
        return self.rows.toArrow().to_reader()

    def frame(self) -> DataFrame:
        """As Rows."""
        return self.rows


def size_of(rows: DataFrame) -> Size:
    """How much rows of the log are, by their `key` and `value`: a few of them may have more than the driver's memory."""
    key, value = F.octet_length("key"), F.coalesce(F.octet_length("value"), F.lit(0))
    [(count, of_texts)] = rows.agg(F.count("key"), F.sum(key + value)).collect()
    return Size(count, of_texts or 0)


class TableWriteError(RuntimeError):
    """A table's folder does not take a batch: it is full, or is no table any more; the message names it."""


def append_rows(
    rows: pa.Table,
    spark: SparkSession,
    catalog: TableCatalog,
    table: TableDefinition,
    mark: Transaction,
) -> None:
    """Append a few rows, or none and the mark alone, unless the table has this mark or a later one.

    Raises:
        TableWriteError: the table's folder does not take them.
    """
    folder = catalog.direct(table.name)
    if folder is None:
        append_frame(spark.createDataFrame(rows, table.schema), catalog, table, mark)
        return
    with write_errors(folder):
        present = DeltaTable(folder)
        done = present.transaction_version(mark.app_id)
    if done is None or done < mark.version:
        append_on_disk(present, folder, rows, mark)


def append_on_disk(
    table: DeltaTable, folder: Path | str, rows: pa.Table | pa.RecordBatchReader, mark: Transaction
) -> None:
    """Append to a table without Spark; who has committed such a mark meanwhile makes it fail.

    Raises:
        TableWriteError: the table's folder does not take them.
    """
    properties = CommitProperties(app_transactions=[mark])
    with write_errors(folder), commit_of_deltalake(folder):
        commit_rows(table, rows, properties)


def commit_rows(
    table: DeltaTable,
    rows: pa.Table | pa.RecordBatchReader,
    properties: CommitProperties | None = None,
) -> None:
    """Append by the deltalake package, with the columns that the table has beside those of the rows."""
    write_deltalake(
        table,
        with_later_columns(rows, table),
        mode="append",
        commit_properties=properties,
        post_commithook_properties=LEFT_TO_UPKEEP,
    )


def with_later_columns(
    rows: pa.Table | pa.RecordBatchReader, table: DeltaTable
) -> pa.Table | pa.RecordBatchReader:
    """A later version of this program may have added columns before it was rolled back."""
    names = rows.schema.names
    later = [column for column in pa.schema(table.schema()) if column.name not in names]
    if not later:
        return rows
    if isinstance(rows, pa.Table):
        return _widened(rows, later)
    schema = pa.schema([*rows.schema, *later])
    return pa.RecordBatchReader.from_batches(schema, (_widened(batch, later) for batch in rows))


def _widened(rows: Frame, columns: Sequence[pa.Field]) -> Frame:
    for column in columns:
        rows = rows.append_column(column, pa.nulls(rows.num_rows, column.type))
    return rows


def append_frame(
    rows: DataFrame, catalog: TableCatalog, table: TableDefinition, mark: Transaction
) -> None:
    """Append by Spark; Delta leaves out rows whose mark, or a later one, the table has."""
    writer = (
        rows.select(*table.schema.names)
        .write.format("delta")
        .mode("append")
        .option("txnAppId", mark.app_id)
        .option("txnVersion", mark.version)
    )
    catalog.save(writer, table.name)


def append_few(
    rows: pa.Table, spark: SparkSession, catalog: TableCatalog, table: TableDefinition
) -> None:
    """Append a few rows by Spark, as one file and without a mark: who repeats it appends them twice.

    Raises:
        TableWriteError: the table does not take them, or is not there.
    """
    location = catalog.location(table.name)
    with spark_write_errors(location):
        if not catalog.exists(spark, table.name):  # Spark would make it
            raise TableWriteError(f"{location} cannot be written: it is not there")
        frame = spark.createDataFrame(rows, table.schema).coalesce(1)
        catalog.save(frame.write.format("delta").mode("append"), table.name)


@contextmanager
def spark_write_errors(location: str) -> Iterator[None]:
    """As write_errors, of what Spark raises."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableWriteError(f"{location} cannot be written: {reason}") from error


@contextmanager
def write_errors(folder: Path | str) -> Iterator[None]:
    """Raise TableWriteError: Delta's errors do not say which table they are about."""
    try:
        with opening(folder):
            yield
    except (DeltaError, OSError) as error:
        raise TableWriteError(f"{folder} cannot be written: {in_one_line(error)}") from error


def running_query_id(spark: SparkSession) -> str:
    """The id of the query whose batch this thread runs; it is the same for the life of a checkpoint."""
    query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query_id is None:
        raise RuntimeError("not called from a batch of a streaming query")
    return query_id
