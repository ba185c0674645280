"""Compaction by Spark: for many rows of the log, and for tables in a catalog or an object store.

A group's rows are changed by new entries of its log, in plain Python, on the driver and in Spark's workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial, reduce
from itertools import chain, groupby, islice
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

import pyarrow as pa
from deltalake import Transaction
from msgspec import Struct, json, structs
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StructField, StructType, TimestampType

from group_coordinator.tables.catalog import TableCatalog, commit_of_spark
from group_coordinator.tables.compaction.replayed_group import ReplayedGroup
from group_coordinator.tables.compaction.rows import (
    ROW_TYPES,
    GroupKey,
    GroupRows,
    Retention,
    StoredLogEntry,
    TableRow,
)
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_ID,
    GROUP_KEY,
    TableDefinition,
    quoted,
)
from group_coordinator.tables.maintenance_work import session_conf
from group_coordinator.tables.topic_ids import topic_names

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class Change(Struct, frozen=True, gc=False):
    """A change of a row: put it into its table, or delete the row with its key."""

    table: str
    delete: bool
    row: TableRow


def apply_entries(
    key: GroupKey,
    before: GroupRows,
    log: Iterable[StoredLogEntry],
    retention: Retention,
    topic_names: Mapping[str, str] = _NO_NAMES,
) -> Iterator[Change]:
    """Yield the changes that bring a group's rows up to date; entries may be in any order. A repeat yields none."""
    # Spark gives rows in any order; entries sort in the order of writing.
    entries = sorted(log)
    if not entries:
        return
    group = ReplayedGroup(key, before, topic_names)
    for entry in entries:
        group.apply(entry)
    after = group.rows(entries[-1], retention).by_table()
    for table, rows in before.by_table().items():
        for row_key, row in after[table].items():
            if _has_changed(rows.get(row_key), row):
                yield Change(table, delete=False, row=row)
        for row_key, row in rows.items():
            if row_key not in after[table]:
                yield Change(table, delete=True, row=row)


def _has_changed(before: TableRow | None, after: TableRow) -> bool:
    # A row that differs only in its last record is unchanged.
    if before is None or before is after:
        return before is None
    return before != structs.replace(after, updated_at=before.updated_at, batch_id=before.batch_id)


_APP_ID = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"


def once(session: SparkSession, app_id: str, version: int) -> AbstractContextManager[None]:
    """Let Delta skip the one MERGE inside if the application has written this version, or a later version."""
    # Delta reads this from the session, which is the same for all batches: a remaining setting would skip later writes.
    return session_conf(session, {_APP_ID: app_id, _VERSION: str(version)})


# Group ids that the driver may hold; a larger number of groups is in every file anyway.
_MOST_GROUPS = 10_000
# Comparisons with the least and the greatest group of a file cost little, and there are hundreds of files at most.
_MOST_RANGES = 128


class Range(NamedTuple):
    first: str
    last: str


def ranges_of(groups: Sequence[str]) -> list[Range]:
    """Return a few ranges with these groups and few others, in the order of their bytes, as in Delta's statistics."""
    ordered = sorted(groups)
    size = -(-len(ordered) // _MOST_RANGES) or 1
    parts = (ordered[start : start + size] for start in range(0, len(ordered), size))
    return [Range(part[0], part[-1]) for part in parts]


def touched_groups(log: DataFrame) -> list[Range] | None:
    found = log.select(GROUP_ID.name).distinct().limit(_MOST_GROUPS + 1).collect()
    # Without ranges Delta reads every file of the cluster, which it would do for so many groups anyway.
    return None if len(found) > _MOST_GROUPS else ranges_of([row[0] for row in found])


def condition(cluster_id: str, ranges: Sequence[Range] | None, table: str) -> Column:
    """Return the condition that a row of the table, by its alias, may be of these groups."""
    # With values, not with columns of a join: Delta compares them with its statistics of each file. Not as a text: in
    # texts Spark replaces ${env:...} by variables of the driver's environment, and clients choose the ids of groups.
    of_cluster = F.col(f"{table}.{CLUSTER_ID.name}") == F.lit(cluster_id)
    if not ranges:
        return of_cluster
    group = F.col(f"{table}.{GROUP_ID.name}")
    within = (group.between(F.lit(first), F.lit(last)) for first, last in ranges)
    return of_cluster & reduce(Column.__or__, within)


CHANGES = "changes of the tables that follow from the log"
"""Name of the changes in Spark's UI."""
TopicNames: TypeAlias = Mapping[str, Mapping[str, str]]
"""Names of topics by id, by cluster."""
_CHANGES = "table string, delete boolean, rows string"
_CHANGES_AT_ONCE = 2_000
"""Changes in a batch for Spark, as JSON arrays. With a row for each change, Spark converts rows for longer than Python computes them."""
_ENTRY = {
    "batch_id": "bigint",
    "seq": "int",
    "key": "string",
    "value": "string",
    "event_time": "bigint",
    "reason": "string",
    "inferred": "boolean",
}
"""Columns of StoredLogEntry, with times in milliseconds."""


def compact(
    catalog: TableCatalog,
    cluster_id: str,
    log: DataFrame,
    retention: Retention,
    transaction: Transaction,
) -> None:
    """Apply a part of a cluster's log to the state tables; each table takes one version of an application once."""
    ranges = touched_groups(log)
    touched = condition(cluster_id, ranges, "present")
    present = {
        table.name: catalog.read(log.sparkSession, table.name).alias("present").where(touched)
        for table in COMPACTED
    }
    # Only a first load has so many groups of a cluster without rows.
    empty = {name for name, rows in present.items() if ranges is None and rows.isEmpty()}
    groups = log.select(*GROUP_KEY).distinct()
    before = (
        _table_rows(present[table.name].join(groups, [*GROUP_KEY], "left_semi"), table)
        for table in COMPACTED
        if table.name not in empty
    )
    names = {cluster_id: topic_names(log.sparkSession, catalog, cluster_id)}
    with _kept(_changes(reduce(DataFrame.union, before, _entries(log)), retention, names)) as kept:
        # A MERGE without changes would still read its table and commit.
        [(changed,)] = kept.agg(F.collect_set("table")).collect()
        for table in (table for table in COMPACTED if table.name in changed):
            application = f"{transaction.app_id}:{table.name}"
            with once(log.sparkSession, application, transaction.version):
                if table.name in empty:
                    _write_first(catalog, cluster_id, table, _rows(kept, table))
                else:
                    _merge(catalog, table, _rows(kept, table), touched)


def applied(log: DataFrame, retention: Retention, names: TopicNames) -> dict[str, DataFrame]:
    """Return the state tables after the whole log of any clusters; it has the columns of GROUP_KEY and StoredLogEntry."""
    changes = _changes(_entries(log), retention, names)
    return {definition.name: _rows(changes, definition).drop("delete") for definition in COMPACTED}


@contextmanager
def _kept(frame: DataFrame) -> Iterator[DataFrame]:
    """Yield the rows, computed once, and again only for parts that were lost with an executor.

    Delta makes Spark forget a `cache` of a table that a MERGE changes, and `localCheckpoint` how to compute the rows. A
    cached RDD remembers that with the names of the files that it reads, so the rows are the same after a MERGE.
    """
    java, session = cast("Any", frame)._jdf, cast("Any", frame.sparkSession)  # noqa: SLF001
    level = session.sparkContext._getJavaStorageLevel(StorageLevel.MEMORY_AND_DISK)  # noqa: SLF001
    rows = java.javaRDD().setName(CHANGES).persist(level)
    try:
        yield DataFrame(session._jsparkSession.createDataFrame(rows, java.schema()), session)  # noqa: SLF001
    finally:
        rows.unpersist()


def _changes(groups: DataFrame, retention: Retention, names: TopicNames) -> DataFrame:
    return (
        # A group's rows must be in one task, and in order.
        groups.repartition(*GROUP_KEY)
        .sortWithinPartitions(*GROUP_KEY)
        .mapInArrow(partial(_apply_all, retention=retention, names=names), _CHANGES)
    )


# Rows of the log and of the tables in one frame: an entry in its own columns, a row of a table as JSON.
def _entries(log: DataFrame) -> DataFrame:
    absent = (F.lit(None).cast("string").alias(name) for name in ("table", "row"))
    entry = (without_instants(log.schema[name]).cast(kind) for name, kind in _ENTRY.items())
    return log.select(*GROUP_KEY, *absent, *entry)


def _table_rows(rows: DataFrame, table: TableDefinition) -> DataFrame:
    row = F.struct(*(without_instants(rows.schema[name]) for name in table.schema.names))
    text = F.to_json(row, {"ignoreNullFields": "false"}).alias("row")
    absent = (F.lit(None).cast(kind).alias(name) for name, kind in _ENTRY.items())
    return rows.select(*GROUP_KEY, F.lit(table.name).alias("table"), text, *absent)


def without_instants(column: StructField) -> Column:
    if isinstance(column.dataType, TimestampType):
        return F.unix_millis(column.name).alias(column.name)
    return F.col(column.name)


def _apply_all(
    batches: Iterable[pa.RecordBatch], retention: Retention, names: TopicNames
) -> Iterator[pa.RecordBatch]:
    # The batches of a partition hold whole groups, sorted, so a group may be in several batches.
    rows = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    changes = chain.from_iterable(
        _of_group(GroupKey(*group), of_group, retention, names)
        for group, of_group in groupby(rows, key=itemgetter(0, 1))
    )
    while some := list(islice(changes, _CHANGES_AT_ONCE)):
        yield _batch(some)


def _of_group(
    key: GroupKey, rows: Iterable[Sequence[Any]], retention: Retention, names: TopicNames
) -> Iterator[Change]:
    before, log = GroupRows(), []
    for _, _, table, row, *entry in rows:
        if table is None:
            log.append(StoredLogEntry(*entry))
        else:
            before.add(json.decode(row, type=ROW_TYPES[table]))
    return apply_entries(key, before, log, retention, names.get(key.cluster_id, {}))


def _batch(changes: Iterable[Change]) -> pa.RecordBatch:
    rows: dict[tuple[str, bool], list[TableRow]] = defaultdict(list)
    for change in changes:
        rows[change.table, change.delete].append(change.row)
    return pa.RecordBatch.from_pylist(
        [
            {"table": table, "delete": delete, "rows": json.encode(some).decode()}
            for (table, delete), some in rows.items()
        ]
    )


def _rows(changes: DataFrame, definition: TableDefinition) -> DataFrame:
    instants = [field.name for field in definition.schema if field.dataType == TimestampType()]
    shape = StructType(
        [
            StructField(field.name, LongType() if field.name in instants else field.dataType)
            for field in definition.schema
        ]
    )
    rows = F.from_json("rows", ArrayType(shape), {"mode": "FAILFAST"})
    row = changes.where(F.col("table") == definition.name).select(
        "delete", F.explode(rows).alias("row")
    )
    return row.select(
        "delete",
        *(
            F.timestamp_millis(f"row.{name}").alias(name)
            if name in instants
            else F.col(f"row.{name}")
            for name in definition.schema.names
        ),
    )


def _merge(
    catalog: TableCatalog, definition: TableDefinition, rows: DataFrame, touched: Column
) -> None:
    columns: dict[str, str | Column] = {name: f"new.`{name}`" for name in definition.schema.names}
    merge = (
        catalog.writable(rows.sparkSession, definition.name)
        .alias("present")
        .merge(
            rows.alias("new"),
            reduce(
                Column.__and__,
                (F.col(f"present.`{name}`") == F.col(f"new.`{name}`") for name in definition.key),
                touched,
            ),
        )
        .whenMatchedDelete("new.delete")
        .whenMatchedUpdate(set=columns)
        .whenNotMatchedInsert("NOT new.delete", values=columns)
    )
    with commit_of_spark(catalog.local_folder(definition.name)):
        merge.execute()


def _write_first(
    catalog: TableCatalog, cluster_id: str, definition: TableDefinition, rows: DataFrame
) -> None:
    # A MERGE takes several times as long. Not an append: with another compaction's rows it would double them.
    ours = f"{CLUSTER_ID.name} = {quoted(cluster_id)}"
    new = rows.where("NOT delete").drop("delete")
    writer = new.write.format("delta").mode("overwrite").option("replaceWhere", ours)
    catalog.save(writer, definition.name)
