"""The log: every record the coordinator ever wrote, with the reason and the event behind it. Append only."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from group_coordinator.runtime.output_lines import LogRow
from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    INGESTED_AT,
    TableDefinition,
    optional,
    required,
)
from group_coordinator.tables.instants import instant
from group_coordinator.tables.line_schema import line_schema

COORDINATOR_LOG = TableDefinition(
    "coordinator_log",
    "One row a record, for ever; within a group ordered by (batch_id, seq)",
    StructType(
        [
            CLUSTER_ID,
            required("group_id", StringType(), "The group the record belongs to"),
            required(
                "record_type",
                IntegerType(),
                "Kafka's record type: 1 offset, 2 to 16 group and members; negative: ours",
            ),
            required("key", StringType(), "JSON: Kafka's key fields"),
            optional(
                "value", StringType(), "JSON: version and Kafka's value fields; null: tombstone"
            ),
            optional("topic", StringType(), "Of an offset record"),
            optional("partition", IntegerType(), "Of an offset record"),
            optional("member_id", StringType(), "Of a member's record, or the member that asked"),
            optional(
                "offset", LongType(), "The committed offset; null: not an offset, or a tombstone"
            ),
            required("reason", StringType(), "Why the record was written"),
            optional("principal", StringType(), "Who asked; null: a deadline did"),
            required("event_time", TimestampType(), "When it happened, by the group's clock"),
            optional("source_topic", StringType(), "The event behind it; null: a deadline"),
            optional("source_partition", IntegerType(), "The event behind it; null: a deadline"),
            optional("source_offset", LongType(), "The event behind it; null: a deadline"),
            BATCH_ID,
            required("seq", IntegerType(), "Position among the group's records of the batch"),
            INGESTED_AT,
        ]
    ),
    properties={
        "delta.dataSkippingStatsColumns": "group_id,event_time,batch_id",
        # Compaction that is far behind still reads files that its own maintenance has replaced.
        "delta.deletedFileRetentionDuration": "interval 1 days",
    },
)

LINE = line_schema(LogRow)
"""The JSON of one log row as the stateful function writes it."""


def log_row(row: Column, *, cluster_id: Column, source_topic: Column) -> Column:
    """A struct with the table's columns, except those of the batch, from a parsed LINE."""
    names = [name for name in COORDINATOR_LOG.schema.names if name in LINE.names]
    return F.struct(
        cluster_id.alias("cluster_id"),
        *(row[name].alias(name) for name in names),
        instant(row["event_time_ms"]).alias("event_time"),
        F.when(row["source_offset"].isNotNull(), source_topic).alias("source_topic"),
    )
