"""Compaction by Spark: for many rows of the log, and for tables in a catalog or an object store.

A group's rows are changed by new entries of its log, in plain Python, on the driver and in Spark's workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial, reduce
from itertools import chain, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

import pandas as pd
from deltalake import Transaction
from msgspec import json, structs
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

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
from group_coordinator.tables.definition import CLUSTER_ID, GROUP_ID, GROUP_KEY, TableDefinition
from group_coordinator.tables.maintenance_work import session_conf
from group_coordinator.tables.topic_ids import topic_names

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class Change(NamedTuple):
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
_LOG = "log"
_CHANGES = StructType(
    [
        StructField("table", StringType()),
        StructField("delete", BooleanType()),
        StructField("row", StringType()),
    ]
)


def compact(
    catalog: TableCatalog,
    cluster_id: str,
    log: DataFrame,
    retention: Retention,
    transaction: Transaction,
) -> None:
    """Apply a part of a cluster's log to the state tables; each table takes one version of an application once."""
    ranges = touched_groups(log)
    groups = _groups_with_their_log(catalog, log, condition(cluster_id, ranges, "present"))
    names = {cluster_id: topic_names(log.sparkSession, catalog, cluster_id)}
    with _kept(_changes(groups, retention, names)) as kept:
        # A MERGE without changes would still read its table and commit.
        [(changed,)] = kept.agg(F.collect_set("table")).collect()
        for definition in COMPACTED:
            if definition.name in changed:
                application = f"{transaction.app_id}:{definition.name}"
                rows, touched = _rows(kept, definition), condition(cluster_id, ranges, "old")
                with (
                    once(log.sparkSession, application, transaction.version),
                    commit_of_spark(catalog.local_folder(definition.name)),
                ):
                    _merge(catalog, definition, rows, touched)


def applied(log: DataFrame, retention: Retention, names: TopicNames) -> dict[str, DataFrame]:
    """Return the state tables after the whole log of any clusters; it has the columns of GROUP_KEY and StoredLogEntry."""
    changes = _changes(_in_one_shape(log, _LOG, [*StoredLogEntry._fields]), retention, names)
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
        .mapInPandas(partial(_apply_all, retention=retention, names=names), _CHANGES)
    )


def _groups_with_their_log(catalog: TableCatalog, log: DataFrame, touched: Column) -> DataFrame:
    groups = log.select(*GROUP_KEY).distinct()
    tables = [
        _in_one_shape(
            catalog.read(log.sparkSession, table.name)
            .alias("present")
            .where(touched)
            .join(groups, [*GROUP_KEY], "left_semi"),
            table.name,
            table.schema.names,
        )
        for table in COMPACTED
    ]
    return reduce(DataFrame.union, tables, _in_one_shape(log, _LOG, [*StoredLogEntry._fields]))


def _in_one_shape(frame: DataFrame, kind: str, columns: list[str]) -> DataFrame:
    row = F.struct(*(without_instants(frame.schema[name]) for name in columns))
    return frame.select(
        *GROUP_KEY,
        F.lit(kind).alias("kind"),
        F.to_json(row, {"ignoreNullFields": "false"}).alias("row"),
    )


def without_instants(column: StructField) -> Column:
    if isinstance(column.dataType, TimestampType):
        return F.unix_millis(column.name).alias(column.name)
    return F.col(column.name)


def _apply_all(
    frames: Iterable[pd.DataFrame], retention: Retention, names: TopicNames
) -> Iterator[pd.DataFrame]:
    # The frames of a partition hold whole groups, sorted, so a group may be in several frames.
    rows = chain.from_iterable(
        zip(frame["cluster_id"], frame["group_id"], frame["kind"], frame["row"], strict=True)
        for frame in frames
    )
    for group_id, of_group in groupby(rows, key=itemgetter(0, 1)):
        before, log = GroupRows(), []
        for *_, kind, text in of_group:
            if kind == _LOG:
                log.append(StoredLogEntry(**json.decode(text)))
            else:
                before.add(json.decode(text, type=ROW_TYPES[kind]))
        key = GroupKey(*group_id)
        changes = list(apply_entries(key, before, log, retention, names.get(key.cluster_id, {})))
        if changes:
            yield _frame(changes)


def _frame(changes: list[Change]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "table": [change.table for change in changes],
            "delete": [change.delete for change in changes],
            "row": [json.encode(change.row).decode() for change in changes],
        }
    )


def _rows(changes: DataFrame, definition: TableDefinition) -> DataFrame:
    instants = [field.name for field in definition.schema if field.dataType == TimestampType()]
    shape = StructType(
        [
            StructField(field.name, LongType() if field.name in instants else field.dataType)
            for field in definition.schema
        ]
    )
    row = changes.where(F.col("table") == definition.name).select(
        "delete", F.from_json("row", shape).alias("row")
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
    (
        catalog.writable(rows.sparkSession, definition.name)
        .alias("old")
        .merge(
            rows.alias("new"),
            reduce(
                Column.__and__,
                (F.col(f"old.`{name}`") == F.col(f"new.`{name}`") for name in definition.key),
                touched,
            ),
        )
        .whenMatchedDelete("new.delete")
        .whenMatchedUpdate(set=columns)
        .whenNotMatchedInsert("NOT new.delete", values=columns)
        .execute()
    )
