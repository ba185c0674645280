"""The table writers: claims of a cluster's rows. The owner is the checkpoint with the last claim.

Each claim has an epoch, the last epoch plus one. Every append carries the epoch in its mark (writer.py), so that a
table rejects a batch of a former owner.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, Transaction
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructType, TimestampType

from group_coordinator.tables.append import append_rows
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import CLUSTER_ID, TableDefinition, required

WRITERS = TableDefinition(
    "writers",
    "A row each time a checkpoint claimed a cluster's rows; only the checkpoint with the highest epoch may write",
    StructType(
        [
            CLUSTER_ID,
            required(
                "epoch", LongType(), "1 for the cluster's first checkpoint, then 1 higher each time"
            ),
            required(
                "writer_id",
                StringType(),
                "The checkpoint; it stays the same when the checkpoint is moved",
            ),
            required("checkpoint", StringType(), "Location of the checkpoint at the claim"),
            required("events_topic", StringType(), "Topic of its events"),
            required("program_version", StringType(), "The version of this program"),
            required("claimed_at", TimestampType(), "Time of the claim, by the wall clock"),
        ]
    ),
)


class Claim(NamedTuple):
    """A row of the table, without the time."""

    cluster_id: str
    epoch: int
    writer_id: str
    checkpoint: str
    events_topic: str
    program_version: str


def newest_claim(spark: SparkSession, catalog: TableCatalog, cluster_id: str) -> Claim | None:
    """Return the valid claim; None: the cluster's rows were never claimed."""
    claims = [Claim(*row) for row in _rows(spark, catalog) if row[0] == cluster_id]
    return max(claims, key=lambda claim: claim.epoch, default=None)


def clusters(spark: SparkSession, catalog: TableCatalog) -> set[str]:
    """Return the clusters whose rows were ever claimed."""
    return {Claim(*row).cluster_id for row in _rows(spark, catalog)}


def write_claim(spark: SparkSession, catalog: TableCatalog, claim: Claim) -> None:
    """Add a claim; of two with the same cluster and epoch the table takes the first."""
    row = {**claim._asdict(), "claimed_at": time.time_ns() // 1_000}
    rows = pa.Table.from_pylist([row], schema=WRITERS.no_rows().schema)
    transaction = Transaction(f"group-coordinator/{claim.cluster_id}/{WRITERS.name}", claim.epoch)
    append_rows(rows, spark, catalog, WRITERS, transaction)


def first_claimed_ms(spark: SparkSession, catalog: TableCatalog, cluster_id: str) -> int | None:
    """Return the time of the first claim of the cluster's rows; None: there is none."""
    rows = catalog.read(spark, WRITERS.name).where(F.col("cluster_id") == cluster_id)
    [first] = rows.agg(F.min(F.unix_millis("claimed_at"))).collect()[0]
    return None if first is None else int(first)


def _rows(spark: SparkSession, catalog: TableCatalog) -> list[tuple[Any, ...]]:
    # Without Spark if possible, as this runs while the job runs. All claims: there are few.
    folder = catalog.direct(WRITERS.name)
    if folder is not None:
        table = DeltaTable(folder).to_pyarrow_table(columns=list(Claim._fields))
        return [tuple(row.values()) for row in table.to_pylist()]
    return [
        tuple(row) for row in catalog.read(spark, WRITERS.name).select(*Claim._fields).collect()
    ]
