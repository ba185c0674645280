"""Compaction: new rows of the log are applied to groups, members, offsets and group_configs.

The deltalake package takes a tenth of a second for a few rows; Spark's plans and jobs for the same keep two cores busy for several.
The new rows of every affected group are computed first, then a MERGE per table writes them. Computed again from tables
that have them, they are no changes, so a batch may be repeated from any point. If a concurrent commit makes a MERGE fail, the rows
are computed again. Each cluster has its own compaction, which leaves the others' rows unchanged.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction
from msgspec import convert
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from group_coordinator.codecs.records.record_types import COMPACTED_TYPES
from group_coordinator.tables.append import Size, size_of
from group_coordinator.tables.catalog import TableCatalog, commit_of_deltalake
from group_coordinator.tables.compaction import spark
from group_coordinator.tables.compaction.rows import (
    ENTRY_COLUMNS,
    ROW_TYPES,
    GroupKey,
    GroupRows,
    Retention,
    StoredLogEntry,
    from_arrow,
    in_milliseconds,
    to_arrow,
)
from group_coordinator.tables.compaction.spark import Change, apply_entries
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    GROUP_ID,
    GROUP_KEY,
    TableDefinition,
)
from group_coordinator.tables.storage_errors import CONFLICTS
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_names_in
from group_coordinator.tables.views.definition import in_datafusion, is_one_of

_log = logging.getLogger(__name__)

_MOST_ROWS = 2_000_000
"""Rows that the driver applies. It takes 24 s for 1,365,000 commits; Spark's Java would first have to compile its code."""
_MOST_BYTES = 512 * 1024 * 1024
_ROWS_AT_ONCE = 50_000
"""Rows that are objects of Python at the same time, next to the other rows of their groups."""
_ROWS_CONVERTED_AT_ONCE = 5_000
"""Rows that Arrow converts while no other thread of Python runs."""

Entries: TypeAlias = dict[GroupKey, list[StoredLogEntry]]


def compact(
    catalog: TableCatalog,
    cluster_id: str,
    log: pa.Table,
    retention: Retention,
    transaction: Transaction,
) -> None:
    """Apply rows of a cluster's log to the state tables, which the package can write; each takes one version once.

    The log has the columns cluster_id, group_id and those of StoredLogEntry.
    """
    if not log.num_rows:
        return
    # Our own log has names next to the ids, and needs no other table.
    is_mirrored = log["inferred"].null_count < log.num_rows
    names = topic_names_in(catalog.location(TOPIC_IDS.name), cluster_id) if is_mirrored else {}
    tables = ((each.name, DeltaTable(catalog.location(each.name))) for each in COMPACTED)
    # A query of an empty table takes as long as others.
    present = {name: table for name, table in tables if table.file_uris()}
    changed: dict[str, list[pa.Table]] = defaultdict(list)
    for entries in _some_groups(log):
        before = _rows_of_groups(present, entries)
        changes: dict[str, list[Change]] = defaultdict(list)
        for key, of_group in entries.items():
            for change in apply_entries(key, before[key], of_group, retention, names):
                changes[change.table].append(change)
        for table, of_table in changes.items():
            changed[table].append(_source(table, of_table))
    # A table without changes gets no commit.
    for definition in (each for each in COMPACTED if each.name in changed):
        once = Transaction(f"{transaction.app_id}:{definition.name}", transaction.version)
        _merge(catalog, definition, pa.concat_tables(changed[definition.name]), cluster_id, once)


def _some_groups(log: pa.Table) -> Iterator[Entries]:
    """Yield the entries of some groups at a time, in the order of the groups, so that equal input gives equal files."""
    columns = log.select([*GroupKey._fields, *ENTRY_COLUMNS]).sort_by(GROUP_ID.name)
    rows = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True)
        for batch in in_milliseconds(columns).to_batches(_ROWS_CONVERTED_AT_ONCE)
    )
    some: Entries = {}
    count = 0
    for key, of_group in groupby(rows, key=itemgetter(0, 1)):
        some[GroupKey(*key)] = entries = [StoredLogEntry(*row[2:]) for row in of_group]
        count += len(entries)
        if count >= _ROWS_AT_ONCE:
            yield some
            some, count = {}, 0
    if some:
        yield some


def _rows_of_groups(
    present: Mapping[str, DeltaTable], groups: Collection[GroupKey]
) -> Mapping[GroupKey, GroupRows]:
    found: dict[GroupKey, GroupRows] = defaultdict(GroupRows)
    [cluster_id] = {key.cluster_id for key in groups}
    of_groups = is_one_of(GROUP_ID.name, [key.group_id for key in groups])
    asked = f"SELECT * FROM present WHERE cluster_id = {in_datafusion(cluster_id)} AND {of_groups}"  # noqa: S608 - escaped names
    for table, of_version in present.items():
        rows = QueryBuilder().register("present", of_version).execute(asked)
        for columns in from_arrow(pa.table(rows)):
            row = convert(columns, ROW_TYPES[table])
            found[row.group_key].add(row)
    return found


def _source(table: str, changes: list[Change]) -> pa.Table:
    [definition] = [each for each in COMPACTED if each.name == table]
    rows = to_arrow([change.row for change in changes], definition.no_rows().schema)
    return rows.append_column("delete", pa.array([change.delete for change in changes]))


def _merge(
    catalog: TableCatalog,
    definition: TableDefinition,
    source: pa.Table,
    cluster_id: str,
    once: Transaction,
) -> None:
    # The value, not only the column of the source, shows Delta that no file of another cluster matters.
    of_cluster = f"old.`cluster_id` = {in_datafusion(cluster_id)}"
    columns = {f"`{name}`": f"new.`{name}`" for name in definition.schema.names}
    keys = (f"old.`{name}` = new.`{name}`" for name in definition.key)
    with commit_of_deltalake(catalog.local_folder(definition.name)):
        table = DeltaTable(catalog.location(definition.name))
        done = table.transaction_version(once.app_id)
        # A repeated batch: this table has these rows already.
        if done is not None and done >= once.version:
            return
        (
            table.merge(
                source,
                " AND ".join([of_cluster, *keys]),
                source_alias="new",
                target_alias="old",
                commit_properties=CommitProperties(app_transactions=[once]),
                post_commithook_properties=LEFT_TO_MAINTENANCE,
            )
            .when_matched_delete("new.`delete`")
            .when_matched_update(columns)
            .when_not_matched_insert(columns, "NOT new.`delete`")
            .execute()
        )


_TRIES = Retrying(
    retry=retry_if_exception_type(CONFLICTS),
    wait=wait_random_exponential(max=10),
    stop=stop_after_attempt(8),
    reraise=True,
)


def entries_of(log: DataFrame) -> DataFrame:
    """Return the rows of coordinator_log that change groups, with the columns of GROUP_KEY and StoredLogEntry."""
    of_groups = F.col("record_type").isin(*COMPACTED_TYPES)
    return log.where(of_groups).select(*GROUP_KEY, *ENTRY_COLUMNS)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Applies parts of the log to the tables of a catalog; each part is a version of the application."""

    catalog: TableCatalog
    cluster_id: str
    retention: Retention
    application: str

    def apply(self, log: DataFrame, version: int) -> None:
        is_ours = F.col(CLUSTER_ID.name) == self.cluster_id
        _TRIES(self._apply, entries_of(log.where(is_ours)), Transaction(self.application, version))

    def _apply(self, log: DataFrame, transaction: Transaction) -> None:
        rows = None if self.catalog.direct_root is None else self._rows_for_the_driver(log)
        by_driver = rows is not None
        _log.debug("compaction: spark_batch=%d by_driver=%s", transaction.version, by_driver)
        if rows is None:
            spark.compact(self.catalog, self.cluster_id, log, self.retention, transaction)
        else:
            compact(self.catalog, self.cluster_id, rows, self.retention, transaction)

    def _rows_for_the_driver(self, log: DataFrame) -> pa.Table | None:
        size = size_of(log)
        if size.fits_the_driver:
            return log.toArrow()
        if size.rows > _MOST_ROWS or size.bytes > _MOST_BYTES:
            return None
        # Spark would hold them in Java first, whose heap may be too small: its collecting then never ends.
        [(first, last)] = log.agg(F.min(BATCH_ID.name), F.max(BATCH_ID.name)).collect()
        rows = self._rows_of_batches(first, last, size.rows + 1)
        texts = (pc.sum(pc.binary_length(rows[name])).as_py() or 0 for name in ("key", "value"))
        # Rows that maintenance has removed since are in the files of this batch only.
        return rows if Size(rows.num_rows, sum(texts)) == size else None

    def _rows_of_batches(self, first: int, last: int, limit: int) -> pa.Table:
        columns = [*GROUP_KEY, *ENTRY_COLUMNS]
        of_cluster = f"cluster_id = {in_datafusion(self.cluster_id)}"
        types = ", ".join(map(str, COMPACTED_TYPES))
        table = DeltaTable(self.catalog.location(COORDINATOR_LOG.name))
        rows = (
            QueryBuilder()
            .register("log", table)
            .execute(
                f"SELECT {', '.join(columns)} FROM log WHERE {of_cluster} "  # noqa: S608 - numbers and an escaped name
                f"AND batch_id BETWEEN {first} AND {last} AND record_type IN ({types}) LIMIT {limit}"
            )
        )
        schema = COORDINATOR_LOG.no_rows().schema
        return pa.table(rows).cast(pa.schema([schema.field(name) for name in columns]))
