"""Definition of a table: columns, properties and creation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import deltalake
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.delta_errors import opening
from group_coordinator.tables.views import definition as views

_LOG_RETENTION = "delta.logRetentionDuration"

_PROPERTIES = {
    # Commits come once a second: a checkpoint every 10 of them would cost more than the commits.
    "delta.checkpointInterval": "50",
    # The time for which versions can be read, and for which a reader may run: a MERGE replaces whole files, and a
    # million offsets are 22 MB each time.
    _LOG_RETENTION: "interval 1 days",
    "delta.deletedFileRetentionDuration": "interval 1 days",
}

_PROPERTIES_ON_DISK = {
    # The deltalake package lists every file of the Delta log's folder, several times per append
    # (python -m tests.benchmarks.upkeep).
    _LOG_RETENTION: "interval 30 minutes"
}

_MEGABYTE = 1024 * 1024


_KINDS = {
    "string": StringType(),
    "int": IntegerType(),
    "bigint": LongType(),
    "timestamp": TimestampType(),
    "binary": BinaryType(),
    "boolean": BooleanType(),
}


def required(name: str, kind: str | DataType, meaning: str) -> StructField:
    """Return a column that is never null; the kind is a name of Spark's SQL, or a type."""
    return _column(name, kind, meaning, nullable=False)


def optional(name: str, kind: str | DataType, meaning: str) -> StructField:
    """Return a column that may be null; its meaning has the cases."""
    return _column(name, kind, meaning, nullable=True)


def described(text: str) -> list[StructField]:
    """Return columns, as views describe theirs."""
    found = views.described(text)
    return [_column(each.name, each.type, each.meaning, nullable=each.nullable) for each in found]


def _column(name: str, kind: str | DataType, meaning: str, *, nullable: bool) -> StructField:
    of_spark = _KINDS[kind] if isinstance(kind, str) else kind
    return StructField(name, of_spark, nullable, {"comment": meaning})


# Columns of more than one table.
CLUSTER_ID = required("cluster_id", "string", "The Kafka cluster, setting cluster.id")
GROUP_ID = required("group_id", "string", "The group")
BATCH_ID = required("batch_id", "bigint", "The job's batch that wrote the row")
INGESTED_AT = required("ingested_at", "timestamp", "Time of writing the row, by the wall clock")
UPDATED_AT = required("updated_at", "timestamp", "Event time of the record that changed the row")
UPDATE_BATCH_ID = required("batch_id", "bigint", "The coordinator's batch that changed the row")

GROUP_KEY = (CLUSTER_ID.name, GROUP_ID.name)
MEMBER_KEY = (*GROUP_KEY, "member_id")
OFFSET_KEY = (*GROUP_KEY, "topic", "partition")
CONFIG_KEY = (*GROUP_KEY, "name")
"""The key columns of the state tables."""
SAMPLED_AT = "sampled_at"
"""The last key column of samples."""


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table's name, columns and Delta properties; `key` identifies a row, if rows change or are removed."""

    name: str
    meaning: str
    schema: StructType
    key: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        """Columns that separate the files of clusters in a table: a change of rows rewrites files."""
        return (CLUSTER_ID.name,) if self.key else ()

    @property
    def sorted_by(self) -> tuple[str, ...]:
        """Columns by which a reader can skip files without its groups."""
        # Samples stay in the order of time: sorted by group, each file would have rows of all times, and the removal of old rows
        # would touch all of them.
        is_by_group = GROUP_ID.name in self.key and SAMPLED_AT not in self.key
        return (GROUP_ID.name,) if is_by_group else ()

    @property
    def file_bytes(self) -> int:
        """The target size of files: the smaller, the fewer groups are in each."""
        # A MERGE rewrites whole files, an append none: small files keep the rewrites small.
        return (16 if self.key else 128) * _MEGABYTE

    def no_rows(self) -> pa.Table:
        """Return the table's columns in Arrow's types, without a row."""
        # Without comments: Delta rejects rows whose comments differ from the table's, which may be of an earlier version.
        columns = pa.schema(deltalake.Schema.from_json(self.schema.json()))
        return pa.schema([column.remove_metadata() for column in columns]).empty_table()

    def create(self, spark: SparkSession, catalog: TableCatalog) -> None:
        properties = {**_PROPERTIES, **self.properties}
        columns = ", ".join(self.partitioned_by)
        clause = f"PARTITIONED BY ({columns})" if columns else ""
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {catalog.sql_name(self.name)} "
            f"({', '.join(map(column_in_sql, self.schema))}) USING delta {clause} "
            f"COMMENT {quoted(self.meaning)} "
            f"TBLPROPERTIES ({', '.join(f'{quoted(k)} = {quoted(v)}' for k, v in properties.items())})"
        )

    def create_on_disk(self, folder: Path) -> None:
        with opening(folder):
            deltalake.DeltaTable.create(
                folder,
                deltalake.Schema.from_json(self.schema.json()),
                # Another process may create the table at the same time.
                mode="ignore",
                partition_by=[*self.partitioned_by],
                description=self.meaning,
                configuration={**_PROPERTIES, **_PROPERTIES_ON_DISK, **self.properties},
            )


def table_of(
    name: str,
    meaning: str,
    columns: Iterable[StructField],
    key: tuple[str, ...] = (),
    properties: Mapping[str, str] | None = None,
) -> TableDefinition:
    return TableDefinition(name, meaning, StructType([*columns]), key, properties or {})


def column_in_sql(column: StructField) -> str:
    needed = "" if column.nullable else " NOT NULL"
    comment = quoted(column.metadata["comment"])
    # A plain `timestamp` depends on the session, and may have no time zone.
    kind = (
        "timestamp_ltz"
        if isinstance(column.dataType, TimestampType)
        else column.dataType.simpleString()
    )
    return f"`{column.name}` {kind}{needed} COMMENT {comment}"


def quoted(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    return f"'{escaped}'"
