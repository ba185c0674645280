"""From rows as they were and as they should be to the least MERGE that gets there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.once import once

DELETE, UPSERT, KEEP = "delete", "upsert", "keep"


def as_struct(frame: DataFrame, key: Sequence[str], name: str) -> DataFrame:
    """The key, and all columns as one: null where a left join finds nothing."""
    return frame.select(*key, F.struct("*").alias(name))


def with_action(after: DataFrame, content: Sequence[str]) -> DataFrame:
    """Column `action`, from `exists` (it should be there), `before` (the row that is, or null) and the content."""
    differs = F.lit(False)  # noqa: FBT003 - Spark's signature
    for name in content:
        differs = differs | ~F.col(f"before.{name}").eqNullSafe(F.col(name))
    return after.withColumn(
        "action",
        F.when(~F.col("exists") & F.col("before").isNotNull(), DELETE)
        .when(F.col("exists") & (F.col("before").isNull() | differs), UPSERT)
        .otherwise(KEEP),
    )


def due(rows: DataFrame) -> DataFrame:
    """The rows with something to do, worked out now.

    Not only cached: Delta makes Spark forget what it cached from a table that a MERGE changes.
    """
    return rows.where(F.col("action") != KEEP).localCheckpoint()


@dataclass(frozen=True, slots=True)
class Merger:
    """Brings tables to new rows, each table once per (application, version)."""

    catalog: TableCatalog
    application: str
    version: int

    def merge(self, table: TableDefinition, key: Sequence[str], rows: DataFrame) -> None:
        """Apply each row's `action` to the row with the same key."""
        if rows.isEmpty():
            return
        columns: dict[str, str | Column] = {name: f"new.`{name}`" for name in table.schema.names}
        same_row = " AND ".join(f"old.`{name}` = new.`{name}`" for name in key)
        target = self.catalog.writable(rows.sparkSession, table.name).alias("old")
        merge = (
            target.merge(rows.alias("new"), same_row)
            .whenMatchedDelete(f"new.action = '{DELETE}'")
            .whenMatchedUpdate(set=columns)
            .whenNotMatchedInsert(f"new.action = '{UPSERT}'", values=columns)
        )
        with once(rows.sparkSession, f"{self.application}:{table.name}", self.version):
            merge.execute()
