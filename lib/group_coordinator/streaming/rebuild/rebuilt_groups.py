"""Groups rebuilt from a snapshot and the later log, as the seeds of a rebuilt checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.record_types import RECORD_TYPES
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.replay import replay
from group_coordinator.runtime.outputs import pack_seed
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.ownership import WRITTEN
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.state_tables import SNAPSHOTS

COLUMNS = ("group_id", "state", "key", "value", "event_time_ms")
"""The columns that are read; rows are sorted by group and, within a group, in the order of writing. A first row may be a state."""

STATES = "group_id STRING, state BINARY"


class LoggedRecord(NamedTuple):
    """A record of the log: its JSON and its time by the group's clock."""

    key: str
    value: str | None
    at_ms: int


def rebuilt_group(
    group_id: str, log: Iterable[LoggedRecord], state: bytes | None = None
) -> Group | None:
    """Return the group after all records of its log, or after the records since `state`; None: it was removed.

    It is as in a broker that has loaded the log: no pending requests and ids, no pattern that is being resolved, and no topic
    metadata. Its members' sessions and times to revoke begin with the batch that reads the seed (runtime/group_call.py).
    """
    group = Group(group_id) if state is None else snapshots.load(group_id, state)
    for record in log:
        replay(group, [log_entry.decode(record.key, record.value)], record.at_ms)
        # A group's clock never goes back, even if the broker's timestamps do.
        group.clock_ms = max(group.clock_ms, record.at_ms)
    return None if group.is_forgotten else group


def states(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Convert frames with COLUMNS to frames with STATES, a row per existing group."""
    for group_id, state in _rebuilt(frames):
        yield pd.DataFrame({"group_id": [group_id], "state": [state]})


def seeds(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Convert frames with COLUMNS to frames as source.py reads them, a row per existing group."""
    for group_id, state in _rebuilt(frames):
        yield pd.DataFrame({"group_id": [group_id], "event": [pack_seed(state)]})


def _rebuilt(frames: Iterable[pd.DataFrame]) -> Iterator[tuple[str, bytes]]:
    # A group's rows may be in several consecutive frames.
    rows = chain.from_iterable(
        zip(*(frame[column] for column in COLUMNS), strict=True) for frame in frames
    )
    for group_id, of_group in groupby(rows, key=itemgetter(0)):
        group = _of_rows(group_id, of_group)
        if group is not None:
            yield group_id, snapshots.dump(group)


def _of_rows(group_id: str, rows: Iterator[tuple[Any, ...]]) -> Group | None:
    first = next(rows)
    _, state, *_ = first
    # The first row is a record too, unless it has the state.
    log = chain([first], rows) if state is None else rows
    return rebuilt_group(group_id, (LoggedRecord(*row[2:]) for row in log), state)


LAST = 2**63 - 1
"""A batch after all batches."""


class Progress(NamedTuple):
    """The last event of each partition with rows in the tables, and the last batch; -1: none."""

    handled: Mapping[int, int]
    batch_id: int


def farthest(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    """Return the higher of two offsets of each partition."""
    return {each: max(one.get(each, -1), other.get(each, -1)) for each in {**one, **other}}


def progress_after(
    spark: SparkSession, job: JobSettings, after: int, until: int = LAST
) -> Progress:
    """Return the progress by the rows of batches after `after`, up to `until`."""
    catalog = TableCatalog(job.tables_root)
    written = reduce(
        DataFrame.union,
        (
            catalog.read(spark, table.name)
            .where(_of(job, after, until))
            .select("batch_id", "source_topic", "source_partition", "source_offset")
            for table in WRITTEN
        ),
    )
    rows = (
        written.groupBy("source_topic", "source_partition")
        .agg(F.max("source_offset").alias("offset"), F.max("batch_id").alias("batch_id"))
        .collect()
    )
    # A fired timer has no partition.
    handled = {
        row["source_partition"]: row["offset"]
        for row in rows
        if row["source_topic"] == job.events_topic and row["source_partition"] is not None
    }
    return Progress(handled, max((row["batch_id"] for row in rows), default=-1))


def is_mirrored(spark: SparkSession, job: JobSettings, after: int) -> bool:
    """Return True if batches after `after` have another coordinator's records, whose groups ours cannot continue."""
    log = TableCatalog(job.tables_root).read(spark, COORDINATOR_LOG.name)
    mirrored = log.where(
        _of(job, after, LAST) & F.col("reason").isin(Reason.MIRRORED.value, Reason.OBSERVED.value)
    )
    return not mirrored.isEmpty()


def groups_after(spark: SparkSession, job: JobSettings, after: int, until: int = LAST) -> DataFrame:
    """Return the rows from which groups are rebuilt: the snapshot that ends with `after`, and the log behind it."""
    catalog = TableCatalog(job.tables_root)
    log = (
        catalog.read(spark, COORDINATOR_LOG.name)
        .where(_of(job, after, until) & F.col("record_type").isin(*RECORD_TYPES))
        .withColumn("event_time_ms", F.unix_millis("event_time"))
        .withColumn("state", F.lit(None).cast("binary"))
        .select(*COLUMNS, "batch_id", "seq")
    )
    rows = log if after < 0 else log.union(_snapshot(spark, job, after))
    return (
        rows.repartition("group_id")
        .sortWithinPartitions("group_id", "batch_id", "seq")
        .select(*COLUMNS)
    )


def _snapshot(spark: SparkSession, job: JobSettings, batch_id: int) -> DataFrame:
    # seq 0 sorts a group's state before all its later rows of the log.
    absent = {"key": F.lit(None), "value": F.lit(None), "event_time_ms": F.lit(0), "seq": F.lit(0)}
    rows = TableCatalog(job.tables_root).read(spark, SNAPSHOTS.name)
    return (
        rows.where(_of(job, batch_id - 1, batch_id) & F.col("group_id").isNotNull())
        .withColumns(absent)
        .select(*COLUMNS, "batch_id", "seq")
    )


def _of(job: JobSettings, after: int, until: int) -> Column:
    is_later = (F.col("batch_id") > after) & (F.col("batch_id") <= until)
    return (F.col("cluster_id") == job.cluster_id) & is_later
