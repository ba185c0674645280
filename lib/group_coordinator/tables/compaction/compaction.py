"""Compaction: new rows of the log are applied to groups, members, offsets and group_configs.

The deltalake package takes a tenth of a second for a few rows; Spark's plans and jobs for the same keep two cores busy for several.
The new rows of every affected group are computed first, then a MERGE per table writes them. Computed again from tables
that have them, they are no changes, so a batch may be repeated from any point. If a concurrent commit makes a MERGE fail, the rows
are computed again. Each cluster has its own compaction, which leaves the others' rows unchanged.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction
from msgspec import convert
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from group_coordinator.codecs.records.record_types import COMPACTED_TYPES
from group_coordinator.tables.append import size_of
from group_coordinator.tables.catalog import TableCatalog, commit_of_deltalake
from group_coordinator.tables.compaction import spark
from group_coordinator.tables.compaction.rows import (
    ROW_TYPES,
    GroupKey,
    GroupRows,
    Retention,
    StoredLogEntry,
    from_arrow,
    to_arrow,
)
from group_coordinator.tables.compaction.spark import Change, apply_entries
from group_coordinator.tables.creation import COMPACTED
from group_coordinator.tables.definition import CLUSTER_ID, GROUP_KEY, TableDefinition
from group_coordinator.tables.storage_errors import CONFLICTS
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_names_in
from group_coordinator.tables.views.definition import in_datafusion

_log = logging.getLogger(__name__)


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
    entries: dict[GroupKey, list[StoredLogEntry]] = defaultdict(list)
    for row in from_arrow(log):
        key = GroupKey(*(row[name] for name in GroupKey._fields))
        entries[key].append(StoredLogEntry(*(row[name] for name in StoredLogEntry._fields)))
    before = _rows_of_groups(catalog, cluster_id, entries)
    is_mirrored = any(entry.is_mirrored for log in entries.values() for entry in log)
    # Our own log has names next to the ids, and needs no other table.
    topic_names = (
        topic_names_in(catalog.location(TOPIC_IDS.name), cluster_id) if is_mirrored else {}
    )
    changes = [
        change
        # Sorted, so that equal input gives equal files.
        for key in sorted(entries)
        for change in apply_entries(key, before[key], entries[key], retention, topic_names)
    ]
    _merge_all(catalog, cluster_id, changes, transaction)


def _rows_of_groups(
    catalog: TableCatalog, cluster_id: str, groups: Iterable[GroupKey]
) -> dict[GroupKey, GroupRows]:
    found: dict[GroupKey, GroupRows] = defaultdict(GroupRows)
    wanted = ", ".join(sorted({in_datafusion(key.group_id) for key in groups}))
    for definition in COMPACTED:
        table = QueryBuilder().register("present", DeltaTable(catalog.location(definition.name)))
        of_cluster = f"SELECT * FROM present WHERE cluster_id = {in_datafusion(cluster_id)}"  # noqa: S608 - numbers and escaped names
        rows = table.execute(f"{of_cluster} AND group_id IN ({wanted})")
        for columns in from_arrow(pa.table(rows)):
            row = convert(columns, ROW_TYPES[definition.name])
            found[row.group_key].add(row)
    return found


def _merge_all(
    catalog: TableCatalog, cluster_id: str, changes: list[Change], transaction: Transaction
) -> None:
    by_table: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_table[change.table].append(change)
    for definition in COMPACTED:
        # A table without changes gets no commit.
        if definition.name in by_table:
            application = f"{transaction.app_id}:{definition.name}"
            rows = _source(definition, by_table[definition.name])
            once = Transaction(application, transaction.version)
            _merge(catalog, definition, rows, cluster_id, once)


def _source(definition: TableDefinition, changes: list[Change]) -> pa.Table:
    rows = to_arrow((change.row for change in changes), definition.no_rows().schema)
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
    return log.where(of_groups).select(*GROUP_KEY, *StoredLogEntry._fields)


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
        # The deltalake package is faster for few rows, and holds all of them in memory.
        size = None if self.catalog.direct_root is None else size_of(log)
        by_driver = size is not None and size.fits_the_driver
        _log.debug(
            "compaction: spark_batch=%d by_driver=%s %s", transaction.version, by_driver, size
        )
        if by_driver:
            compact(self.catalog, self.cluster_id, log.toArrow(), self.retention, transaction)
            return
        by_package = None if self.catalog.direct_root is None else self._merge_rows
        spark.compact(
            self.catalog,
            self.cluster_id,
            log,
            self.retention,
            transaction,
            merge_at_driver=by_package,
        )

    def _merge_rows(self, definition: TableDefinition, rows: DataFrame, once: Transaction) -> None:
        schema = definition.no_rows().schema.append(pa.field("delete", pa.bool_()))
        source = rows.toArrow().select(schema.names).cast(schema)
        _merge(self.catalog, definition, source, self.cluster_id, once)
