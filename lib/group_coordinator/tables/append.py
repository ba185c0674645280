"""Appends that a redone batch does not repeat.

On a local disk small appends go through the deltalake package: it writes the same commit as Spark in a fiftieth of the
time, which is most of the time between two batches. Both leave the same mark in the table's log, so that either sees
what the other has appended.
"""

from __future__ import annotations

from pathlib import Path

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.tables.catalog import TableCatalog

_SMALL_ROWS = 50_000
"""What may pass through the memory of the driver."""


def append_once(
    rows: DataFrame, count: int, catalog: TableCatalog, table: str, version: int
) -> None:
    """Append the rows unless the running query has appended this version, or a later one, before."""
    application = f"{running_query_id(rows.sparkSession)}:{table}"
    folder = catalog.local_folder(table)
    if folder is not None and count <= _SMALL_ROWS:
        _append_without_job(rows, folder, Transaction(application, version))
        return
    writer = (
        rows.write.format("delta")
        .mode("append")
        .option("txnAppId", application)
        .option("txnVersion", version)
    )
    catalog.save(writer, table)


def _append_without_job(rows: DataFrame, folder: Path, transaction: Transaction) -> None:
    table = DeltaTable(folder)
    done = table.transaction_version(transaction.app_id)
    if done is None or done < transaction.version:
        write_deltalake(
            table,
            rows.toArrow(),
            mode="append",
            commit_properties=CommitProperties(app_transactions=[transaction]),
        )


def running_query_id(spark: SparkSession) -> str:
    """The id of the query whose batch this thread runs; it is the same for the life of a checkpoint."""
    query_id = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query_id is None:
        raise RuntimeError("not called from a batch of a streaming query")
    return query_id
