"""Events that could not be taken: where they are, why, and their bytes."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from group_coordinator.tables.definition import TableDefinition, optional, required
from group_coordinator.tables.instants import instant

DEAD_LETTERS = TableDefinition(
    "dead_letters",
    "One row an event that could not be taken; it changed no group",
    StructType(
        [
            required("source_topic", StringType(), "Where the event is"),
            optional("source_partition", IntegerType(), "Where the event is; null: a deadline failed"),
            optional("source_offset", LongType(), "Where the event is; null: a deadline failed"),
            required("reason", StringType(), "Why it could not be taken"),
            optional("value", BinaryType(), "The event's bytes; null: it had none"),
            required("event_time", TimestampType(), "The event's own timestamp"),
            required("ingested_at", TimestampType(), "When the row was written, by the wall clock"),
            required("cluster_id", StringType(), "The Kafka cluster, setting cluster.id"),
            optional("group_id", StringType(), "The event's key, bytes that are not UTF-8 replaced"),
            required("batch_id", LongType(), "The batch of the job that wrote it"),
        ]
    ),
    properties={"delta.dataSkippingNumIndexedCols": "0"},
)

LINE = StructType(
    [
        StructField("group_id", StringType()),
        StructField("source_partition", IntegerType()),
        StructField("source_offset", LongType()),
        StructField("reason", StringType()),
        StructField("value", StringType()),
        StructField("event_time_ms", LongType()),
    ]
)
"""The JSON of one dead letter as the stateful function writes it."""


def from_lines(
    lines: DataFrame, *, cluster_id: str, source_topic: str, batch_id: int
) -> DataFrame:
    """Rows of the table from JSON texts in column `line`."""
    row = lines.select(F.from_json("line", LINE).alias("row")).select("row.*")
    return row.select(
        F.lit(source_topic).alias("source_topic"),
        *("source_partition", "source_offset", "reason"),
        F.unbase64("value").alias("value"),
        instant(F.col("event_time_ms")).alias("event_time"),
        F.current_timestamp().alias("ingested_at"),
        F.lit(cluster_id).alias("cluster_id"),
        "group_id",
        F.lit(batch_id).cast(LongType()).alias("batch_id"),
    )
