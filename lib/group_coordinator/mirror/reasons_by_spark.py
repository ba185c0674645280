"""Inference of reasons by Spark's workers, for batches that are too long for the driver.

A first load has every tombstone that the cleaner has not removed, and for most of them there are no rows: the removed
records were cleaned long ago. So the groups with a value before a tombstone, in the batch, in the log or in the tables,
are found first, and only these are replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import json
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, TimestampType

from group_coordinator.mirror.group_so_far import EXPLAINED, OFFSETS, GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts, InferredReason, infer_reasons
from group_coordinator.mirror.known_rows import STATE, MirrorBatch, last_folded_batch, log_since
from group_coordinator.tables.compaction.rows import ROW_TYPES, GroupRows
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, GROUP_ID

_REASONS = "source_partition int, source_offset long, reason string"


def inferred(rows: DataFrame, batch: MirrorBatch) -> DataFrame:
    """Return the reasons of a batch's tombstones: source_partition, source_offset, reason.

    Args:
        rows: of the batch, and the gap tombstones, with group_id and the columns of LoggedRow.
        batch: facts in addition to the rows.
    """
    of_batch = rows.where(F.col(BATCH_ID.name) == batch.batch_id)
    with_tombstones = of_batch.where(_is_tombstone()).select(GROUP_ID.name).distinct()
    earlier = log_since(batch, last_folded_batch(batch)).join(
        with_tombstones, GROUP_ID.name, "left_semi"
    )
    tables = [
        (table, _of_cluster(batch, table.name).join(with_tombstones, GROUP_ID.name, "left_semi"))
        for table in STATE
    ]
    known = reduce(
        DataFrame.union,
        (frame.select(GROUP_ID.name) for frame in (earlier, *(frame for _, frame in tables))),
        _with_a_value_before(of_batch),
    ).distinct()
    of_tables = (_row_of_table(frame, table.name, table.schema.names) for table, frame in tables)
    return (
        reduce(DataFrame.union, of_tables, _row_of_log(rows.union(earlier)))
        # Most tombstones of a first load are of keys without any earlier row, and need no replay.
        .join(known, GROUP_ID.name, "left_semi")
        .groupBy(GROUP_ID.name)
        .applyInArrow(_inference(batch.batch_id, batch.facts), _REASONS)
    )


def _is_tombstone() -> Column:
    return F.col("value").isNull() & F.col("record_type").isin(*EXPLAINED)


def _of_cluster(batch: MirrorBatch, table: str) -> DataFrame:
    rows = batch.catalog.read(batch.spark, table)
    return rows.where(F.col(CLUSTER_ID.name) == batch.cluster_id)


def _with_a_value_before(rows: DataFrame) -> DataFrame:
    """Return the groups in which a key has a value and then a tombstone, in the batch."""
    key = (GROUP_ID.name, F.when(~_is_offset(), F.col("record_type")), "topic", "partition")
    first = F.min(F.when(F.col("value").isNotNull(), F.col("seq")))
    last = F.max(F.when(_is_tombstone(), F.col("seq")))
    return (
        rows.groupBy(*key)
        .agg(first.alias("first"), last.alias("last"))
        .where("first < last")
        .select(GROUP_ID.name)
    )


def _is_offset() -> Column:
    return F.col("record_type").isin(*OFFSETS)


def _row_of_log(frame: DataFrame) -> DataFrame:
    row = F.struct(*(_without_instants(frame.schema[name]) for name in LoggedRow._fields))
    return frame.select(
        GROUP_ID.name, row.alias("logged"), F.lit(None).alias("table"), F.lit(None).alias("row")
    )


def _row_of_table(frame: DataFrame, table: str, columns: list[str]) -> DataFrame:
    row = F.struct(*(_without_instants(frame.schema[name]) for name in columns))
    # Rows of different tables need a common type to pass through one shuffle.
    text = F.to_json(row, {"ignoreNullFields": "false"})
    return frame.select(
        GROUP_ID.name, F.lit(None).alias("logged"), F.lit(table).alias("table"), text.alias("row")
    )


def _without_instants(column: StructField) -> Column:
    if isinstance(column.dataType, TimestampType):
        return F.unix_millis(column.name).alias(column.name)
    return F.col(column.name)


def _inference(batch_id: int, cluster: ClusterFacts) -> Callable[[pa.Table], pa.Table]:
    # applyInArrow counts the parameters of its function, so this has only one.
    return lambda of_group: _reasons_of_group(of_group, batch_id, cluster)


def _reasons_of_group(of_group: pa.Table, batch_id: int, cluster: ClusterFacts) -> pa.Table:
    before = GroupRows()
    for table, text in zip(of_group["table"].to_pylist(), of_group["row"].to_pylist(), strict=True):
        if table is not None:
            before.add(json.decode(text, type=ROW_TYPES[table]))
    logged = pc.drop_null(of_group["logged"]).combine_chunks()
    columns = (logged.field(name).to_pylist() for name in LoggedRow._fields)
    rows = map(LoggedRow, *columns)
    group = GroupSoFar(of_group[GROUP_ID.name][0].as_py(), before)
    found = list(infer_reasons(group, rows, batch_id, cluster))
    return pa.table(
        {name: [getattr(one, name) for one in found] for name in InferredReason._fields},
        pa.schema(
            [
                ("source_partition", pa.int32()),
                ("source_offset", pa.int64()),
                ("reason", pa.string()),
            ]
        ),
    )
