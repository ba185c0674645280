"""Reasons for the tombstones of a batch of mirrored rows, before the batch is appended to the log.

A small number of rows is handled on the driver, a batch that is too long for it by Spark's workers. A first load has every tombstone
that the cleaner has not removed, most of them without rows. So the groups with a value before a tombstone, in the batch, in the
log or in the tables, are found first, and only these are replayed.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import json
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from group_coordinator.mirror.group_so_far import (
    EXPLAINED,
    OFFSETS,
    REPLAYED,
    GroupSoFar,
    LoggedRow,
)
from group_coordinator.mirror.inference import ClusterFacts, InferredReason, infer_reasons
from group_coordinator.mirror.known_rows import (
    LOGGED,
    STATE,
    MirrorBatch,
    last_compacted_batch,
    log_of_groups,
    log_since,
    rows_of_groups,
    size_of_log,
)
from group_coordinator.tables.append import MOST_ROWS, Size, size_of
from group_coordinator.tables.compaction.rows import ROW_TYPES, GroupRows, from_arrow
from group_coordinator.tables.compaction.spark import without_instants
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, GROUP_ID

_REASONS = "source_partition int, source_offset long, reason string"


def inferred(rows: DataFrame, batch: MirrorBatch) -> DataFrame:
    """Return the reasons of tombstones by source_partition and source_offset; the rows have group_id and LoggedRow's columns."""
    of_batch = rows.where(F.col(BATCH_ID.name) == batch.batch_id)
    with_tombstones = of_batch.where(_is_tombstone()).select(GROUP_ID.name).distinct()
    earlier = log_since(batch, last_compacted_batch(batch)).join(
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
    row = F.struct(*(without_instants(frame.schema[name]) for name in LoggedRow._fields))
    return frame.select(
        GROUP_ID.name, row.alias("logged"), F.lit(None).alias("table"), F.lit(None).alias("row")
    )


def _row_of_table(frame: DataFrame, table: str, columns: list[str]) -> DataFrame:
    row = F.struct(*(without_instants(frame.schema[name]) for name in columns))
    # Rows of different tables need a common type to pass through one shuffle.
    text = F.to_json(row, {"ignoreNullFields": "false"})
    return frame.select(
        GROUP_ID.name, F.lit(None).alias("logged"), F.lit(table).alias("table"), text.alias("row")
    )


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
    kinds = (pa.int32(), pa.int64(), pa.string())
    return pa.table(
        {name: [getattr(one, name) for one in found] for name in InferredReason._fields},
        pa.schema(zip(InferredReason._fields, kinds, strict=True)),
    )


_log = logging.getLogger(__name__)

_PLACE = ("source_partition", "source_offset")
# Offset of the seq of gap tombstones, which is negative, beyond all rows of a batch.
_BEHIND_ALL = 2_000_000_000
_MOST_GROUPS = 1_000
"""Groups that a condition names explicitly."""


def with_reasons(decoded: DataFrame, batch: MirrorBatch) -> DataFrame:
    """Return the rows, as of coordinator_log without batch, with the inferred reasons of their tombstones.

    A batch without tombstones costs one query; a batch with tombstones is read up to four times, so it should be persisted.
    """
    tombstones = decoded.where(_is_tombstone()).select(GROUP_ID.name)
    # One more than the limit shows if there are too many, without counting all.
    few = tombstones.limit(MOST_ROWS + 1).toArrow()
    if not few.num_rows:
        return decoded
    groups = few[GROUP_ID.name].unique().to_pylist()
    is_short = few.num_rows <= MOST_ROWS and len(groups) <= _MOST_GROUPS
    found = _found_on_driver(decoded, groups, batch) if is_short else None
    by = "spark" if found is None else "driver"
    _log.debug("batch=%d inference=%s groups=%d", batch.batch_id, by, len(groups))
    if found is None:
        return _joined(decoded, inferred(_replayed(decoded, batch), batch))
    if not found:
        return decoded
    columns = zip(*found, strict=True)
    reasons = pa.table([pa.array(column) for column in columns], [*InferredReason._fields])
    return _joined(decoded, F.broadcast(batch.spark.createDataFrame(reasons)))


def _replayed(decoded: DataFrame, batch: MirrorBatch) -> DataFrame:
    # Gap tombstones are placed at the end of the batch before, as they need no reasons.
    rows = decoded.withColumn(BATCH_ID.name, F.lit(batch.batch_id).cast("long"))
    if batch.gone is not None:
        before = F.lit(batch.batch_id - 1).cast("long")
        behind_all = (F.col("seq") + _BEHIND_ALL).cast("int")
        gone = batch.gone.withColumns({BATCH_ID.name: before, "seq": behind_all})
        rows = rows.unionByName(gone)
    return rows.where(F.col("record_type").isin(*REPLAYED)).select(*LOGGED)


def _found_on_driver(
    decoded: DataFrame, groups: Sequence[str], batch: MirrorBatch
) -> list[InferredReason] | None:
    """Return the reasons for the batch's groups with tombstones; None: their rows are too many for the driver."""
    of_groups = _replayed(decoded, batch).where(F.col(GROUP_ID.name).isin(*groups))
    compacted = last_compacted_batch(batch)
    sizes = (size_of(of_groups), size_of_log(batch, compacted, groups))
    size = Size(sum(each.rows for each in sizes), sum(each.bytes for each in sizes))
    if not size.fits_the_driver:
        return None
    new, old = of_groups.toArrow(), log_of_groups(batch, compacted, groups)
    rows = _by_group([*from_arrow(old), *from_arrow(new)])
    before = rows_of_groups(batch, groups)
    return [
        reason
        for group_id in groups
        for reason in infer_reasons(
            GroupSoFar(group_id, before[group_id]), rows[group_id], batch.batch_id, batch.facts
        )
    ]


def _by_group(rows: Iterable[dict[str, object]]) -> dict[str, list[LoggedRow]]:
    found: dict[str, list[LoggedRow]] = defaultdict(list)
    for row in rows:
        found[str(row.pop(GROUP_ID.name))].append(LoggedRow(**row))  # type: ignore[arg-type]
    return found


def _joined(decoded: DataFrame, reasons: DataFrame) -> DataFrame:
    of_place = reasons.withColumnRenamed("reason", "found")
    found = F.col("found")
    return (
        decoded.join(of_place, [*_PLACE], "left")
        .withColumn("reason", F.coalesce(found, "reason"))
        .withColumn("inferred", found.isNotNull())
        .select(*decoded.columns)
    )
