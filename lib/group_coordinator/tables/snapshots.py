"""Where a rebuild may begin instead of with the first row of the log."""

from __future__ import annotations

from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
)

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_KEY,
    TableDefinition,
    optional,
    required,
)

SNAPSHOTS = TableDefinition(
    "snapshots",
    "The groups as the log left them at a batch, from which a rebuild goes on; for this program alone",
    StructType(
        [
            CLUSTER_ID,
            optional("group_id", StringType(), "The group; null: the row that is about all groups"),
            required("batch_id", LongType(), "The last batch of the log that is in it"),
            required("layout", IntegerType(), "The version of the layout of state"),
            optional("state", BinaryType(), "The group; null: the row that is about all groups"),
            optional("events_topic", StringType(), "Of the row about all groups: their events"),
            optional(
                "handled",
                MapType(IntegerType(), LongType()),
                "Of the same row: the last event of a partition that left something in the tables",
            ),
            required("taken_at", TimestampType(), "When it was taken, by the wall clock"),
        ]
    ),
    key=GROUP_KEY,
)
