"""The table offsets: the committed offsets of the existing groups."""

from __future__ import annotations

from pyspark.sql.types import IntegerType, LongType, StringType, StructType, TimestampType

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_ID,
    OFFSET_KEY,
    UPDATE_BATCH_ID,
    UPDATED_AT,
    TableDefinition,
    optional,
    required,
)

OFFSETS = TableDefinition(
    "offsets",
    "A row for each committed offset",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required("topic", StringType(), "The topic"),
            optional("topic_id", StringType(), "The topic's id; null: the commit had none"),
            required("partition", IntegerType(), "The partition"),
            required("committed_offset", LongType(), "The next offset that the group reads"),
            optional(
                "leader_epoch",
                IntegerType(),
                "Leader epoch of the last record read; null: not known",
            ),
            optional("metadata", StringType(), "The client's text with the offset"),
            required("commit_timestamp", TimestampType(), "Time of the commit"),
            optional(
                "expire_timestamp",
                TimestampType(),
                "Time of expiration, if the client set it; null: not set",
            ),
            optional(
                "expires_at",
                TimestampType(),
                "Time of expiration, unless committed again; null: the offset is protected",
            ),
            UPDATED_AT,
            UPDATE_BATCH_ID,
        ]
    ),
    key=OFFSET_KEY,
)
