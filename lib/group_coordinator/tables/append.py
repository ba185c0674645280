"""Appends that leave a mark, by which the next append sees the content of the table; and limits of data on the driver.

On a local disk the deltalake package makes the same commit as Spark in a fiftieth of the time, which is most of the time between
two batches. On S3 it would take six requests in turn. Here it appends to an empty copy of the table on this machine's disk, and
two PUTs follow: the data file, and the commit, a conditional PUT of the version after the last known version. So a commit of
another process is noticed and never replaced. All ways leave the same mark in the table's log, so that each sees the others' appends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.catalog import TableCatalog, commit_of_deltalake
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.delta_errors import in_one_line, opening
from group_coordinator.tables.roots import is_on_s3
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE

MOST_ROWS = 50_000
"""Rows that the driver may hold."""
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of rows that the driver may hold."""

Frame = TypeVar("Frame", pa.Table, pa.RecordBatch)


class Size(NamedTuple):
    rows: int
    bytes: int

    @property
    def fits_the_driver(self) -> bool:
        return self.rows <= MOST_ROWS and self.bytes <= MOST_BYTES


class Rows(Protocol):
    """Rows of a table, except the columns that the writer adds: for the driver, or in Spark."""

    @property
    def spark(self) -> SparkSession: ...

    @property
    def fits_the_driver(self) -> bool: ...

    def arrow(self) -> pa.RecordBatchReader: ...

    def frame(self) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class SparkRows:
    rows: DataFrame
    size: Size

    @property
    def spark(self) -> SparkSession:
        return self.rows.sparkSession

    @property
    def fits_the_driver(self) -> bool:
        return self.size.fits_the_driver

    def arrow(self) -> pa.RecordBatchReader:
        return self.rows.toArrow().to_reader()

    def frame(self) -> DataFrame:
        return self.rows


def size_of(rows: DataFrame) -> Size:
    """Return the size of rows of the log, by their `key` and `value`: a few of them may exceed the driver's memory."""
    key, value = F.octet_length("key"), F.coalesce(F.octet_length("value"), F.lit(0))
    [(count, of_texts)] = rows.agg(F.count("key"), F.sum(key + value)).collect()
    return Size(count, of_texts or 0)


class TableWriteError(RuntimeError):
    """A table's folder rejects a batch: it is full, or is no table any more. The message names it."""


def append_rows(
    rows: pa.Table,
    spark: SparkSession,
    catalog: TableCatalog,
    table: TableDefinition,
    mark: Transaction,
) -> None:
    """Append a few rows, or only the mark, unless the table has this mark or a later mark. Raises TableWriteError."""
    folder = catalog.direct(table.name)
    # Only Spark can write to a catalog or to other stores; Delta itself then compares the mark.
    if folder is None:
        append_frame(spark.createDataFrame(rows, table.schema), catalog, table, mark)
        return
    with write_errors(folder):
        present = DeltaTable(folder)
        done = present.transaction_version(mark.app_id)
    # The deltalake package does not compare marks, so an equal or later mark is looked for here.
    if done is None or done < mark.version:
        append_on_disk(present, folder, rows, mark)


def append_on_disk(
    table: DeltaTable, folder: Path | str, rows: pa.Table | pa.RecordBatchReader, mark: Transaction
) -> None:
    """Append without Spark. Raises TableWriteError, also if another process has committed such a mark meanwhile."""
    properties = CommitProperties(app_transactions=[mark])
    with write_errors(folder), commit_of_deltalake(folder):
        commit_rows(table, rows, properties)


def commit_rows(
    table: DeltaTable,
    rows: pa.Table | pa.RecordBatchReader,
    properties: CommitProperties | None = None,
) -> None:
    """Append by the deltalake package, with nulls in the table's columns that the rows lack."""
    write_deltalake(
        table,
        with_later_columns(rows, table),
        mode="append",
        commit_properties=properties,
        post_commithook_properties=LEFT_TO_MAINTENANCE,
    )


def with_later_columns(
    rows: pa.Table | pa.RecordBatchReader, table: DeltaTable
) -> pa.Table | pa.RecordBatchReader:
    # A later version of this program may have added columns before it was rolled back.
    names = rows.schema.names
    later = [column for column in pa.schema(table.schema()) if column.name not in names]
    if not later:
        return rows
    # A table is small and in memory; a reader must stay a stream.
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
    """Append by Spark; Delta skips the rows if the table has their mark, or a later mark."""
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
    """Append a few rows by Spark, as one file and without a mark: a repeat appends them twice. Raises TableWriteError."""
    location = catalog.location(table.name)
    with spark_write_errors(location):
        # Spark would create it.
        if not catalog.exists(spark, table.name):
            raise TableWriteError(f"{location} cannot be written: it does not exist")
        frame = spark.createDataFrame(rows, table.schema).coalesce(1)
        catalog.save(frame.write.format("delta").mode("append"), table.name)


@contextmanager
def spark_write_errors(location: str) -> Iterator[None]:
    """Raise TableWriteError for errors of Spark."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        # The rest is Java's stack trace.
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableWriteError(f"{location} cannot be written: {reason}") from error


@contextmanager
def write_errors(folder: Path | str) -> Iterator[None]:
    """Raise TableWriteError, as Delta's errors do not name the table."""
    try:
        with opening(folder):
            yield
    except (DeltaError, OSError) as error:
        raise TableWriteError(f"{folder} cannot be written: {in_one_line(error)}") from error


def running_query_id(spark: SparkSession) -> str:
    """Return the id of the query whose batch this thread runs; it is the same for the life of a checkpoint."""
    query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query_id is None:
        raise RuntimeError("not called from a batch of a streaming query")
    return query_id


LOG_STORE = "group_coordinator.S3LogStore"
"""Java class of Delta's commits on S3, and of PUTs of whole files (checkpoint/S3Files.java)."""


@dataclass(slots=True)
class AppendByPut:
    """The appends of a process to a table; each knows the version that the last append has made."""

    spark: SparkSession
    location: str
    version: int
    _copy: DeltaTable
    _folder: TemporaryDirectory[str]

    @classmethod
    def to(cls, spark: SparkSession, location: Path | str, table: DeltaTable) -> AppendByPut | None:
        """Return None outside S3, without the Java class that puts, or if the table's protocol differs from the copy's."""
        if isinstance(location, Path) or not is_on_s3(location) or _files(spark) is None:
            return None
        copy, folder = _empty_copy(table)
        # The package writes files for its copy's protocol, which the table might not accept.
        if copy.protocol() != table.protocol():
            return None
        return cls(spark, location, table.version(), copy, folder)

    def append(self, rows: pa.Table | pa.RecordBatchReader, mark: Transaction) -> None:
        """Append the rows and the mark as the next version. Raises TableWriteError, also if another process has committed."""
        commit_rows(self._copy, rows, CommitProperties(app_transactions=[mark]))
        commit = _commit_file(self._copy.version())
        written = Path(self._folder.name, commit)
        actions = map(json.loads, written.read_text().splitlines())
        with spark_write_errors(self.location):
            for name in [unquote(action["add"]["path"]) for action in actions if "add" in action]:
                self._put(name, name, replaces=True)
                # Only the copy's log is needed again, not its data.
                Path(self._folder.name, name).unlink()
            # After the data files: a reader of the commit must find them.
            self._put(commit, _commit_file(self.version + 1), replaces=False)
        self.version += 1

    def shorten(self) -> None:
        """Begin with another copy, as each append makes the log of a copy longer."""
        with self._folder:
            self._copy, self._folder = _empty_copy(self._copy)

    def _put(self, name: str, target: str, *, replaces: bool) -> None:
        session: Any = self.spark
        hadoop = session._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no public way
        source = str(Path(self._folder.name, name))
        _files(self.spark).put(source, f"{self.location}/{target}", replaces, hadoop)


def _empty_copy(table: DeltaTable) -> tuple[DeltaTable, TemporaryDirectory[str]]:
    folder: TemporaryDirectory[str] = TemporaryDirectory(prefix="group-coordinator-")
    metadata = table.metadata()
    copy = DeltaTable.create(
        folder.name,
        table.schema(),
        partition_by=metadata.partition_columns,
        configuration=metadata.configuration,
    )
    return copy, folder


def _commit_file(version: int) -> str:
    return f"_delta_log/{version:020}.json"


def _files(spark: SparkSession) -> Any:
    session: Any = spark
    found = getattr(session._jvm, LOG_STORE)  # noqa: SLF001 - PySpark has no public way
    return found if isinstance(found, JavaClass) else None
