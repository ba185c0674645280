"""Thinning: the selection of old rows of coordinator_log that stay, and the rewriting of the table.

A row is removed if it is an ordinary commit between two others of its partition, in the same hour (or day): by a
member, or by a group that never had members, forward, outside of transactions, by the same principal, in the same life
of the group, of the same topic id. So each hour keeps its first and its last commit, and every change that the views
show - audit, lost_offsets, group_timeline, expiring_soon - keeps its own row and the row before it. As in a log that
Kafka has compacted, the remaining rows make the same state. A single commit rewrites the rows, and compaction skips it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from string import Template
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, PostCommitHookProperties, QueryBuilder, write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import CLUSTER_ID, GROUP_ID, quoted
from group_coordinator.tables.timestamps import shown_ms
from group_coordinator.tables.views.definition import (
    DATAFUSION,
    SPARK,
    Dialect,
    floor_of,
    in_datafusion,
)
from group_coordinator.tables.views.group_records import GROUP_RECORDS
from group_coordinator.tables.views.offset_changes import RECENT_HOURS
from group_coordinator.tables.views.position_steps import micros

# The package would remove old files with every commit: of two at the same time one fails over a file that the other has removed,
# although it is committed. So maintenance removes them, once a minute. OPTIMIZE and VACUUM ignore the properties (1.6.6): they are
# part of maintenance, which is retried. Commits of Spark remove old files with each of their checkpoints.
LEFT_TO_MAINTENANCE = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
"""Properties of every commit by the deltalake package."""


def remove_old_log(location: str) -> None:
    """Remove files of the log in a folder that are older than delta.logRetentionDuration and than the last checkpoint."""
    # Another process was faster; the rest is removed the next time.
    with suppress(FileNotFoundError):
        DeltaTable(location).cleanup_metadata()


DAY_MS = 86_400_000
OPEN_MS = (RECENT_HOURS + 1) * 3_600_000
"""Time for which a day stays unchanged after its end: a reader of the last hours would read all files sorted by group. An hour
more: now is the newest sample, which may be a little old.
"""
STEP_MS = 31 * DAY_MS
"""The length of a stretch; stretches are counted from 1970."""


class HistoryRule(NamedTuple):
    """Time for which a table keeps every row, and then the time for rows of every hour; 0: forever."""

    full_ms: int
    hourly_ms: int = 0


class ThinningLimits(NamedTuple):
    """Midnights, in milliseconds.

    Rows from `closed_ms` on are unchanged; an hour before `hourly_ms` and a day before `daily_ms` keep few ordinary rows.
    """

    closed_ms: int
    hourly_ms: int
    daily_ms: int


def cut_now(rule: HistoryRule, done_ms: int, now_ms: int) -> ThinningLimits | None:
    """Return the present limits; None: thinning is off, or no day has closed since `done_ms`."""
    # Whole days, so that each day is rewritten once and not with every look.
    closed_ms = midnight(now_ms - OPEN_MS)
    if not rule.full_ms or closed_ms <= done_ms:
        return None
    hourly_ms = min(closed_ms, midnight(shown_ms(now_ms - rule.full_ms)))
    daily_ms = min(hourly_ms, midnight(shown_ms(now_ms - rule.hourly_ms))) if rule.hourly_ms else 0
    return ThinningLimits(closed_ms, hourly_ms, daily_ms)


def steps(cut: ThinningLimits, stretches: Collection[int]) -> Iterator[ThinningLimits]:
    """Yield a step to the cut for each stretch with rows before it, in order: the time of a row may be any year."""
    for stretch in stretches:
        end_ms = (stretch + 1) * STEP_MS
        # Old stretches are rewritten singly, so that a first run over years fits into memory and disk.
        if end_ms < cut.closed_ms:
            yield ThinningLimits(end_ms, min(cut.hourly_ms, end_ms), min(cut.daily_ms, end_ms))
    if stretches:
        yield cut


def midnight(time_ms: int) -> int:
    return time_ms // DAY_MS * DAY_MS


SORTED_FILE_BYTES = 20 * 1024 * 1024
"""The size of files that are written sorted: the smaller, the fewer groups are in each."""
GATHERED_FILE_BYTES = 16 * 1024 * 1024
"""Target size of OPTIMIZE afterwards: it leaves larger, sorted files alone."""

_OF_PARTITION = "PARTITION BY cluster_id, group_id, topic, `partition` ORDER BY batch_id, seq"
_OF_BOTH_NEIGHBOURS = ("stretch", "life", "principal", "topic_id")
"""Columns in which a commit must equal the commits before and behind it."""


def _beside(column: str) -> str:
    return (
        f"lag({column}) OVER ({_OF_PARTITION}) AS {column}_before, "
        f"lead({column}) OVER ({_OF_PARTITION}) AS {column}_behind"
    )


def _is_beside(column: str) -> str:
    return " AND ".join(
        f"({column} IS NOT DISTINCT FROM {column}_{place})" for place in ("before", "behind")
    )


# Not date_trunc: DataFusion computes hours in nanoseconds of 64 bits, which end in 1677 and 2262.
_TIME = micros("event_time")
_TEXT = f"""
WITH records AS ({GROUP_RECORDS}),
commits AS (
  SELECT cluster_id, group_id, batch_id, seq, topic, `partition`, `offset` AS committed, life, principal, topic_id,
    has_value AND producer_id IS NULL AND reason IN ('offset-commit', 'mirrored', 'observed')
      AND (member_count > 0 OR NOT is_managed) AS is_ordinary,
    CASE
      WHEN event_time < $instant($daily_us) THEN {floor_of(_TIME, 86_400_000_000)}
      WHEN event_time < $instant($hourly_us) THEN {floor_of(_TIME, 3_600_000_000)}
    END AS stretch
  FROM records
  WHERE record_type = 1
),
placed AS (
  SELECT commits.*, {", ".join(map(_beside, ("is_ordinary", "committed", *_OF_BOTH_NEIGHBOURS)))}
  FROM commits
),
gone AS (
  SELECT cluster_id, group_id, batch_id, seq
  FROM placed
  WHERE is_ordinary AND is_ordinary_before AND is_ordinary_behind AND stretch IS NOT NULL
    AND committed_before <= committed AND committed <= committed_behind
    AND {" AND ".join(map(_is_beside, _OF_BOTH_NEIGHBOURS))}
)
SELECT log.*
FROM $coordinator_log log
LEFT ANTI JOIN gone
  ON gone.cluster_id = log.cluster_id AND gone.group_id = log.group_id
  AND gone.batch_id = log.batch_id AND gone.seq = log.seq AND log.record_type = 1
"""  # noqa: S608 - texts of our own


def thinned_log(log: str, cut: ThinningLimits, dialect: Dialect) -> str:
    """Return SQL for the remaining rows of a table or view that has the log's rows before `cut.closed_ms`."""
    times = {"hourly_us": cut.hourly_ms * 1_000, "daily_us": cut.daily_ms * 1_000}
    given = {"coordinator_log": log, **times, **dialect._asdict()}
    return Template(_TEXT).substitute(given).strip()


# Rows that are decided at a time, in memory; a larger group is taken alone.
_MOST_ROWS = 1_000_000
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class GroupRange(NamedTuple):
    """Range of groups, both ends included."""

    first: str
    last: str


def thin_in_folder(location: str, cluster_id: str, cut: ThinningLimits) -> None:
    """Rewrite a cluster's rows; months that have never been thinned take a commit each.

    Raises:
        CommitFailedError: old rows were added meanwhile, or another process rewrote the files. The table is unchanged, or
            thinned up to a month.
    """
    for step in steps(cut, _stretches(location, _old(cluster_id, cut))):
        _rewrite(DeltaTable(location), cluster_id, step)


def _old(cluster_id: str, cut: ThinningLimits) -> str:
    closed = f"{DATAFUSION.instant}({cut.closed_ms * 1_000})"
    return f"cluster_id = {in_datafusion(cluster_id)} AND event_time < {closed}"


def _stretches(location: str, old: str) -> list[int]:
    stretch_us = STEP_MS * 1_000
    begin = floor_of("arrow_cast(event_time, 'Int64')", stretch_us)
    response = (
        QueryBuilder()
        .register("log", DeltaTable(location))
        .execute(f"SELECT DISTINCT {begin} AS begin_us FROM log WHERE {old} ORDER BY begin_us")  # noqa: S608 - texts of our own
    )
    return [begin_us // stretch_us for begin_us in pa.table(response)["begin_us"].to_pylist()]


def _rewrite(table: DeltaTable, cluster_id: str, cut: ThinningLimits) -> None:
    ours = f"cluster_id = {in_datafusion(cluster_id)}"
    old = _old(cluster_id, cut)
    closed = _EPOCH + timedelta(milliseconds=cut.closed_ms)
    schema = pa.schema(table.schema())
    # The rows wait in a file: deltalake cannot run a query while it writes, and a year is too much for memory.
    with TemporaryFile(prefix="group-coordinator-history-") as scratch:
        with pa.ipc.new_stream(scratch, schema, options=_COMPRESSED) as waiting:
            for batch in _thinned(QueryBuilder().register("log", table), old, cut, schema):
                waiting.write_batch(batch)
        scratch.seek(0)
        write_deltalake(
            table,
            pa.ipc.open_stream(scratch),
            mode="overwrite",
            predicate=f"{ours} AND event_time < '{closed.isoformat(timespec='milliseconds')}'",
            target_file_size=SORTED_FILE_BYTES,
            post_commithook_properties=LEFT_TO_MAINTENANCE,
        )


def _thinned(
    builder: QueryBuilder, old: str, cut: ThinningLimits, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    counts = builder.execute(
        f"SELECT group_id, count(*) FROM log WHERE {old} GROUP BY group_id ORDER BY group_id"  # noqa: S608 - texts of our own
    )
    # Window functions need all rows of a group in memory, but not all groups at once.
    for number, (first, last) in enumerate(in_portions(_pairs(counts), _MOST_ROWS)):
        builder.execute(
            f"CREATE VIEW portion_{number} AS SELECT * FROM log WHERE {old} "  # noqa: S608 - texts of our own
            f"AND group_id >= {in_datafusion(first)} AND group_id <= {in_datafusion(last)}"
        )
        kept = thinned_log(f"portion_{number}", cut, DATAFUSION)
        in_order = f"SELECT * FROM ({kept}) kept ORDER BY group_id, batch_id, seq"  # noqa: S608 - texts of our own
        for batch in pa.RecordBatchReader.from_stream(builder.execute(in_order)):
            # DataFusion may return other string types than the table has.
            yield batch.cast(schema)


def _pairs(response: Any) -> Iterator[tuple[str, int]]:
    for batch in pa.RecordBatchReader.from_stream(response):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def in_portions(counts: Iterable[tuple[str, int]], most: int) -> Iterator[GroupRange]:
    """Yield ranges of groups with at most this number of rows, or with one group; `counts` has the rows of each group."""
    groups: list[str] = []
    rows = 0
    for group_id, count in counts:
        if groups and rows + count > most:
            yield GroupRange(groups[0], groups[-1])
            groups, rows = [], 0
        groups.append(group_id)
        rows += count
    if groups:
        yield GroupRange(groups[0], groups[-1])


_OLD = "old_rows_of_coordinator_log"


def thin_by_spark(
    spark: SparkSession, catalog: TableCatalog, cluster_id: str, cut: ThinningLimits
) -> None:
    """Rewrite a cluster's rows in a single commit."""
    closed = f"timestamp_millis({cut.closed_ms})"
    old = f"{CLUSTER_ID.name} = {quoted(cluster_id)} AND event_time < {closed}"
    catalog.read(spark, COORDINATOR_LOG.name).where(old).createOrReplaceTempView(_OLD)
    (size,) = (
        catalog.writable(spark, COORDINATOR_LOG.name).detail().select("sizeInBytes").collect()[0]
    )
    in_order = (
        spark.sql(thinned_log(_OLD, cut, SPARK))
        .repartitionByRange(max(size // SORTED_FILE_BYTES, 1), F.col(GROUP_ID.name))
        .sortWithinPartitions(GROUP_ID.name, "batch_id", "seq")
    )
    writer = in_order.write.format("delta").mode("overwrite").option("replaceWhere", old)
    catalog.save(writer, COORDINATOR_LOG.name)
    spark.catalog.dropTempView(_OLD)
