"""A batch of mirrored rows, and the rows of its groups in the state tables and the log.

Compaction writes groups last, so all tables have the groups' last batch, and every batch before. To apply rows again changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from msgspec import convert
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from group_coordinator.mirror.group_so_far import REPLAYED, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts
from group_coordinator.tables.append import Size, size_of
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.rows import ROW_TYPES, GroupRows, Retention, from_arrow
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, GROUP_ID, TableDefinition
from group_coordinator.tables.state_tables import GROUPS, MEMBERS, OFFSETS
from group_coordinator.tables.views.definition import in_datafusion, is_one_of


class MirrorBatch(NamedTuple):
    """Input of the inference in addition to the batch's own rows, whose number is as in the tables; `gone` as in continuity.py."""

    spark: SparkSession
    catalog: TableCatalog
    cluster_id: str
    batch_id: int
    retention: Retention
    topics: Mapping[str, str]
    unseen: frozenset[str] = frozenset()
    gone: DataFrame | None = None

    @property
    def facts(self) -> ClusterFacts:
        return ClusterFacts(self.retention.retention_ms, self.topics, self.unseen)


STATE = (OFFSETS, MEMBERS, GROUPS)
"""The state tables that describe a group."""
LOGGED = (GROUP_ID.name, *LoggedRow._fields)
_NO_BATCH = -1


def last_compacted_batch(batch: MirrorBatch) -> int:
    """Return the batch up to which the log need not be read; -1: it must be read from its beginning."""
    if batch.catalog.direct_root is not None:
        asked = f"SELECT max(batch_id) AS last FROM present WHERE {_of_cluster(batch)}"  # noqa: S608 - numbers and escaped names
        last = _on_disk(batch, GROUPS, asked)["last"][0].as_py()
    else:
        groups = batch.catalog.read(batch.spark, GROUPS.name)
        of_cluster = groups.where(F.col(CLUSTER_ID.name) == batch.cluster_id)
        [(last,)] = of_cluster.agg(F.max(BATCH_ID.name)).collect()
    # The batch before this one is read in any case: a limit on the source's batches may have divided an append, and its first
    # half, with its reasons, is there.
    return _NO_BATCH if last is None else min(int(last), batch.batch_id - 2)


def log_since(batch: MirrorBatch, after: int) -> DataFrame:
    """Return the cluster's rows of the log between a batch and this batch, with the record types of group states."""
    in_between = (F.col(BATCH_ID.name) > after) & (F.col(BATCH_ID.name) < batch.batch_id)
    return (
        batch.catalog.read(batch.spark, COORDINATOR_LOG.name)
        .where((F.col(CLUSTER_ID.name) == batch.cluster_id) & in_between)
        # Messages that could not be decoded, and other record types, change no group.
        .where(F.col("record_type").isin(*REPLAYED))
        .select(*LOGGED)
    )


def size_of_log(batch: MirrorBatch, after: int, groups: Sequence[str]) -> Size:
    # Asked first, as the rows of a few groups may exceed the driver's memory.
    if batch.catalog.direct_root is None:
        return size_of(_log_of_groups_by_spark(batch, after, groups))
    sizes = "sum(octet_length(key) + coalesce(octet_length(value), 0))"
    asked = (
        f"SELECT count(*) AS n, {sizes} AS size FROM present WHERE {_of_log(batch, after, groups)}"  # noqa: S608 - numbers and escaped names
    )
    [row] = _on_disk(batch, COORDINATOR_LOG, asked).to_pylist()
    return Size(row["n"], row["size"] or 0)


def log_of_groups(batch: MirrorBatch, after: int, groups: Sequence[str]) -> pa.Table:
    """Return the rows of log_since for some groups."""
    if batch.catalog.direct_root is None:
        return _log_of_groups_by_spark(batch, after, groups).toArrow()
    columns = ", ".join(f'"{name}"' for name in LOGGED)
    asked = f"SELECT {columns} FROM present WHERE {_of_log(batch, after, groups)}"  # noqa: S608 - numbers and escaped names
    return _on_disk(batch, COORDINATOR_LOG, asked)


def _log_of_groups_by_spark(batch: MirrorBatch, after: int, groups: Sequence[str]) -> DataFrame:
    return log_since(batch, after).where(F.col(GROUP_ID.name).isin(*groups))


def _of_log(batch: MirrorBatch, after: int, groups: Sequence[str]) -> str:
    wanted = [
        _of_groups(batch, groups),
        f"batch_id > {after} AND batch_id < {batch.batch_id}",
        f"record_type IN ({', '.join(map(str, REPLAYED))})",
    ]
    return " AND ".join(wanted)


def rows_of_groups(batch: MirrorBatch, groups: Sequence[str]) -> Mapping[str, GroupRows]:
    """Return the rows of these groups in the state tables, by group id."""
    found: dict[str, GroupRows] = defaultdict(GroupRows)
    for definition in STATE:
        for columns in from_arrow(_present(batch, definition, groups)):
            found[columns["group_id"]].add(convert(columns, ROW_TYPES[definition.name]))
    return found


def _present(batch: MirrorBatch, definition: TableDefinition, groups: Sequence[str]) -> pa.Table:
    if batch.catalog.direct_root is not None:
        asked = f"SELECT * FROM present WHERE {_of_groups(batch, groups)}"  # noqa: S608 - numbers and escaped names
        return _on_disk(batch, definition, asked)
    of_cluster = F.col(CLUSTER_ID.name) == batch.cluster_id
    table = batch.catalog.read(batch.spark, definition.name)
    return table.where(of_cluster & F.col(GROUP_ID.name).isin(*groups)).toArrow()


def _on_disk(batch: MirrorBatch, definition: TableDefinition, asked: str) -> pa.Table:
    # Opened for each query, as compaction writes these tables meanwhile.
    table = DeltaTable(str(batch.catalog.direct(definition.name)))
    return pa.table(QueryBuilder().register("present", table).execute(asked))


def _of_cluster(batch: MirrorBatch) -> str:
    return f"cluster_id = {in_datafusion(batch.cluster_id)}"


def _of_groups(batch: MirrorBatch, groups: Sequence[str]) -> str:
    return f"{_of_cluster(batch)} AND {is_one_of(GROUP_ID.name, groups)}"
