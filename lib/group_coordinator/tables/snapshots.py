"""The table snapshots: a rebuild begins there instead of with the first row of the log."""

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
    "Each group as it was after a batch: a rebuild starts from these rows; for this program alone",
    StructType(
        [
            CLUSTER_ID,
            optional("group_id", StringType(), "The group; null: the row that is about all groups"),
            required("batch_id", LongType(), "The last batch of the log in the snapshot"),
            required("layout", IntegerType(), "The state version"),
            optional("state", BinaryType(), "The group; null: the row that is about all groups"),
            optional("events_topic", StringType(), "In the row about all groups: the events topic"),
            optional(
                "handled",
                MapType(IntegerType(), LongType()),
                "In the same row: the last event of each partition that changed the tables",
            ),
            required("taken_at", TimestampType(), "Time of the snapshot, by the wall clock"),
        ]
    ),
    key=GROUP_KEY,
)
