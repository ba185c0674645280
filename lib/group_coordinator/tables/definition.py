"""What a table is made of, and how it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import deltalake
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from group_coordinator.tables.catalog import TableCatalog

_PROPERTIES = {
    # A commit a second: a checkpoint every 10 of them would cost more than the commits.
    "delta.checkpointInterval": "50",
    "delta.logRetentionDuration": "interval 7 days",
    # A MERGE replaces whole files: a million offsets, 22 MB, again and again.
    "delta.deletedFileRetentionDuration": "interval 3 hours",
}


def required(name: str, kind: DataType, meaning: str) -> StructField:
    """A column that is never null."""
    return StructField(name, kind, nullable=False, metadata={"comment": meaning})


def optional(name: str, kind: DataType, meaning: str) -> StructField:
    """A column that may be null; its meaning says when."""
    return StructField(name, kind, nullable=True, metadata={"comment": meaning})


# Columns of more than one table.
CLUSTER_ID = required("cluster_id", StringType(), "The Kafka cluster, setting cluster.id")
GROUP_ID = required("group_id", StringType(), "The group")
BATCH_ID = required("batch_id", LongType(), "The batch of the job that wrote it")
INGESTED_AT = required(
    "ingested_at", TimestampType(), "When the row was written, by the wall clock"
)
UPDATED_AT = required(
    "updated_at", TimestampType(), "Event time of the record that changed the row"
)
UPDATE_BATCH_ID = required("batch_id", LongType(), "The coordinator's batch that changed the row")

GROUP_KEY = (CLUSTER_ID.name, GROUP_ID.name)
MEMBER_KEY = (*GROUP_KEY, "member_id")
OFFSET_KEY = (*GROUP_KEY, "topic", "partition")
"""What identifies a row of the compacted tables."""


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table's name, columns and Delta properties; `key` identifies a row, where rows change."""

    name: str
    meaning: str
    schema: StructType
    key: tuple[str, ...] = ()
    clustered_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    def no_rows(self) -> pa.Table:
        """The table's columns as Arrow has them, without a row."""
        return pa.schema(deltalake.Schema.from_json(self.schema.json())).empty_table()

    def create(self, spark: SparkSession, catalog: TableCatalog) -> None:
        """Make the table, by Spark, unless it is there."""
        properties = {**_PROPERTIES, **self.properties}
        clause = f"CLUSTER BY ({', '.join(self.clustered_by)})" if self.clustered_by else ""
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {catalog.sql_name(self.name)} "
            f"({', '.join(map(column_in_sql, self.schema))}) USING delta {clause} "
            f"COMMENT {_quoted(self.meaning)} "
            f"TBLPROPERTIES ({', '.join(f'{_quoted(k)} = {_quoted(v)}' for k, v in properties.items())})"
        )

    def create_on_disk(self, folder: Path) -> None:
        """Make the table in a folder of this machine, without Spark, unless it is there.

        It is not clustered: the deltalake package, which writes it, does not know that.
        """
        deltalake.DeltaTable.create(
            folder,
            deltalake.Schema.from_json(self.schema.json()),
            mode="ignore",
            description=self.meaning,
            configuration={**_PROPERTIES, **self.properties},
        )


def column_in_sql(column: StructField) -> str:
    """A column as CREATE TABLE and ADD COLUMNS write it."""
    needed = "" if column.nullable else " NOT NULL"
    comment = _quoted(column.metadata["comment"])
    return f"`{column.name}` {column.dataType.simpleString()}{needed} COMMENT {comment}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    return f"'{escaped}'"
