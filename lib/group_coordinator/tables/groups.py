"""The groups that exist, as their latest records leave them."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_ID,
    GROUP_KEY,
    UPDATE_BATCH_ID,
    UPDATED_AT,
    TableDefinition,
    optional,
    required,
)

RESOLVED_REGEXES = ArrayType(
    StructType(
        [
            StructField("regex", StringType()),
            StructField("topics", ArrayType(StringType())),
            StructField("version", LongType()),
            StructField("resolved_at_ms", LongType()),
        ]
    )
)

GROUPS = TableDefinition(
    "groups",
    "One row a group that exists",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required("group_type", StringType(), "classic or consumer"),
            required(
                "state",
                StringType(),
                "By the log; of a classic group: Stable with members, Empty without",
            ),
            optional("protocol_type", StringType(), "Null: a simple group, it only stores offsets"),
            optional(
                "protocol",
                StringType(),
                "The assignor its members agreed on, or most of a consumer group's ask for",
            ),
            required(
                "generation_or_epoch",
                IntegerType(),
                "Counts the rebalances; a consumer group's epoch",
            ),
            optional("leader", StringType(), "The member that assigns"),
            required("member_count", IntegerType(), "Members it has"),
            required("offset_count", IntegerType(), "Committed offsets it has"),
            optional(
                "empty_since", TimestampType(), "When its last member went; null: it has some"
            ),
            optional(
                "next_expiration", TimestampType(), "When its next offset goes, unless it commits"
            ),
            UPDATED_AT,
            UPDATE_BATCH_ID,
            required("expiration_base", StringType(), "Its offsets age from: commit, empty, never"),
            required(
                "protected_topics", ArrayType(StringType()), "Topics whose offsets do not age"
            ),
            # What only consumer groups (KIP-848) have.
            optional("assignment_epoch", IntegerType(), "The epoch that its targets are for"),
            optional("assignment_timestamp", TimestampType(), "When these were computed"),
            optional("metadata_hash", LongType(), "Of its topics when its epoch was set"),
            optional("resolved_regexes", RESOLVED_REGEXES, "What its members' patterns matched"),
        ]
    ),
    clustered_by=GROUP_KEY,
    key=GROUP_KEY,
)
