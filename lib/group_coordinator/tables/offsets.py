"""The committed offsets of the groups that exist."""

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
    "One row per committed offset",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required("topic", StringType(), "The topic"),
            optional("topic_id", StringType(), "The topic's id; null: the commit had none"),
            required("partition", IntegerType(), "The partition"),
            required("committed_offset", LongType(), "Where the group goes on reading"),
            optional(
                "leader_epoch",
                IntegerType(),
                "Leader epoch of the last record read; null: not known",
            ),
            optional("metadata", StringType(), "What the client wrote beside the offset"),
            required("commit_timestamp", TimestampType(), "When it was committed"),
            optional(
                "expire_timestamp",
                TimestampType(),
                "When it expires, if its client said so; null: it did not",
            ),
            optional(
                "expires_at",
                TimestampType(),
                "When it expires unless committed again; null: something protects it",
            ),
            UPDATED_AT,
            UPDATE_BATCH_ID,
        ]
    ),
    key=OFFSET_KEY,
)
