"""Reasons for the tombstones of a batch of mirrored rows, before the batch is appended to the log.

The state before a tombstone is in the state tables, in later rows of the log, and in the batch itself. A small number
of rows is handled on the driver. A first load of a topic full of tombstones is left to Spark's workers.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from group_coordinator.mirror import reasons_by_spark
from group_coordinator.mirror.group_so_far import EXPLAINED, REPLAYED, GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import InferredReason, infer_reasons
from group_coordinator.mirror.known_rows import (
    LOGGED,
    MirrorBatch,
    last_folded_batch,
    log_of_groups,
    rows_of_groups,
    size_of_log,
)
from group_coordinator.tables.append import MOST_ROWS, Size, size_of
from group_coordinator.tables.compaction.rows import from_arrow
from group_coordinator.tables.definition import BATCH_ID, GROUP_ID

_log = logging.getLogger(__name__)

_PLACE = ("source_partition", "source_offset")
# Offset of the seq of gap tombstones, which is negative, beyond all rows of a batch.
_BEHIND_ALL = 2_000_000_000
_MOST_GROUPS = 1_000
"""Groups that a condition names explicitly."""


def with_reasons(decoded: DataFrame, batch: MirrorBatch) -> DataFrame:
    """Return the rows with the inferred reasons of their tombstones.

    A batch without tombstones costs one query for them; a batch with tombstones is read up to four times, so it should
    be persisted.

    Args:
        decoded: columns of coordinator_log but batch_id and ingested_at; reason `mirrored` and inferred false.
        batch: facts in addition to the rows.
    """
    tombstones = decoded.where(
        F.col("value").isNull() & F.col("record_type").isin(*EXPLAINED)
    ).select(GROUP_ID.name)
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
        return _joined(decoded, reasons_by_spark.inferred(_replayed(decoded, batch), batch))
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
    folded = last_folded_batch(batch)
    sizes = (size_of(of_groups), size_of_log(batch, folded, groups))
    if not Size(
        sum(each.rows for each in sizes), sum(each.bytes for each in sizes)
    ).fits_the_driver:
        return None
    new, old = of_groups.toArrow(), log_of_groups(batch, folded, groups)
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
