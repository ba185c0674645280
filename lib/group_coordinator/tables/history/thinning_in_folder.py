"""coordinator_log in a folder is rewritten as it grows old, without Spark: fewer rows, and those of a group side by side.

It takes one commit, so that a reader has the rows of before or those of after, and compaction, which reads the table as a
stream, passes over it (tables/catalog.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from group_coordinator.tables.history.rule import STEP_MS, Cut, steps
from group_coordinator.tables.history.thinned_log import SORTED_FILE_BYTES, thinned_log
from group_coordinator.tables.old_log import LEFT_TO_UPKEEP
from group_coordinator.tables.quoting import in_datafusion
from group_coordinator.tables.views.definition import DATAFUSION, floor_of

_MOST_ROWS = 1_000_000
"""Of so many rows at a time it is decided which stay, in memory; a group that has more is taken alone."""
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Portion(NamedTuple):
    """From one group to another, with both."""

    first: str
    last: str


def thin_in_folder(location: str, cluster_id: str, cut: Cut) -> None:
    """Rewrite a cluster's rows; months that have never been thinned take a commit each.

    Args:
        location: the folder of coordinator_log, or its URL.
        cluster_id: whose rows.
        cut: where history changes.

    Raises:
        CommitFailedError: as old rows came meanwhile, or another process rewrote the files. The table is as it was, or
            thinned up to a month.
    """
    for step in steps(cut, _stretches(location, _old(cluster_id, cut))):
        _rewrite(DeltaTable(location), cluster_id, step)


def _old(cluster_id: str, cut: Cut) -> str:
    """SQL for whether a row is rewritten."""
    closed = f"{DATAFUSION.instant}({cut.closed_ms * 1_000})"
    return f"cluster_id = {in_datafusion(cluster_id)} AND event_time < {closed}"


def _stretches(location: str, old: str) -> list[int]:
    """Those that have old rows."""
    stretch_us = STEP_MS * 1_000
    begin = floor_of("arrow_cast(event_time, 'Int64')", stretch_us)
    answer = (
        QueryBuilder()
        .register("log", DeltaTable(location))
        .execute(f"SELECT DISTINCT {begin} AS begin_us FROM log WHERE {old} ORDER BY begin_us")  # noqa: S608 - texts of our own
    )
    return [begin_us // stretch_us for begin_us in pa.table(answer)["begin_us"].to_pylist()]


def _rewrite(table: DeltaTable, cluster_id: str, cut: Cut) -> None:
    """The rows that stay wait in a file: deltalake cannot answer a query while it writes, and a year is too much for memory."""
    ours = f"cluster_id = {in_datafusion(cluster_id)}"
    old = _old(cluster_id, cut)
    closed = _EPOCH + timedelta(milliseconds=cut.closed_ms)
    schema = pa.schema(table.schema())
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
            post_commithook_properties=LEFT_TO_UPKEEP,
        )


def _thinned(
    builder: QueryBuilder, old: str, cut: Cut, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows that stay, group by group, each group's in their order."""
    counts = builder.execute(
        f"SELECT group_id, count(*) FROM log WHERE {old} GROUP BY group_id ORDER BY group_id"  # noqa: S608 - texts of our own
    )
    for number, (first, last) in enumerate(in_portions(_pairs(counts), _MOST_ROWS)):
        builder.execute(
            f"CREATE VIEW portion_{number} AS SELECT * FROM log WHERE {old} "  # noqa: S608 - texts of our own
            f"AND group_id >= {in_datafusion(first)} AND group_id <= {in_datafusion(last)}"
        )
        kept = thinned_log(f"portion_{number}", cut, DATAFUSION)
        in_order = f"SELECT * FROM ({kept}) kept ORDER BY group_id, batch_id, seq"  # noqa: S608 - texts of our own
        for batch in pa.RecordBatchReader.from_stream(builder.execute(in_order)):
            yield batch.cast(schema)


def _pairs(answer: Any) -> Iterator[tuple[str, int]]:
    for batch in pa.RecordBatchReader.from_stream(answer):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def in_portions(counts: Iterable[tuple[str, int]], most: int) -> Iterator[Portion]:
    """Ranges of groups, each with the number of its rows, that have not more rows than that; no group is cut."""
    groups: list[str] = []
    rows = 0
    for group_id, count in counts:
        if groups and rows + count > most:
            yield Portion(groups[0], groups[-1])
            groups, rows = [], 0
        groups.append(group_id)
        rows += count
    if groups:
        yield Portion(groups[0], groups[-1])
