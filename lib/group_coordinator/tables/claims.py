"""The table writers: claims of a cluster's rows. The owner is the checkpoint with the last claim.

Each claim has an epoch, the last epoch plus one. Every append carries the epoch in its mark (writer.py), so that a
table rejects a batch of a former owner.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, Transaction
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.append import append_rows
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import CLUSTER_ID, required, table_of

WRITERS = table_of(
    "writers",
    "A row each time a checkpoint claimed a cluster's rows; only the checkpoint with the highest epoch may write",
    [
        CLUSTER_ID,
        required(
            "epoch", "bigint", "1 for the cluster's first checkpoint, then 1 higher each time"
        ),
        required(
            "writer_id", "string", "The checkpoint; it stays the same when the checkpoint is moved"
        ),
        required("checkpoint", "string", "Location of the checkpoint at the claim"),
        required("events_topic", "string", "Topic of its events"),
        required("program_version", "string", "The version of this program"),
        required("claimed_at", "timestamp", "Time of the claim, by the wall clock"),
    ],
)


class Claim(NamedTuple):
    cluster_id: str
    epoch: int
    writer_id: str
    checkpoint: str
    events_topic: str
    program_version: str


def newest_claim(spark: SparkSession, catalog: TableCatalog, cluster_id: str) -> Claim | None:
    """Return the valid claim; None: the cluster's rows were never claimed."""
    claims = [claim for claim in _rows(spark, catalog) if claim.cluster_id == cluster_id]
    return max(claims, key=lambda claim: claim.epoch, default=None)


def clusters(spark: SparkSession, catalog: TableCatalog) -> set[str]:
    """Return the clusters whose rows were ever claimed."""
    return {claim.cluster_id for claim in _rows(spark, catalog)}


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


def _rows(spark: SparkSession, catalog: TableCatalog) -> list[Claim]:
    # Without Spark if possible, as this runs while the job runs. All claims: there are few.
    folder = catalog.direct(WRITERS.name)
    if folder is not None:
        table = DeltaTable(folder).to_pyarrow_table(columns=list(Claim._fields))
        return [Claim(**row) for row in table.to_pylist()]
    rows = catalog.read(spark, WRITERS.name).select(*Claim._fields).collect()
    return [Claim(*row) for row in rows]
