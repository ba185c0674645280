"""The table groups: the existing groups after their latest records."""

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
    "A row for each existing group",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required(
                "group_type",
                StringType(),
                "classic or consumer; in a mirrored cluster also share or streams",
            ),
            required(
                "state",
                StringType(),
                "State by the log; a classic group is Stable with members, Empty without",
            ),
            optional(
                "protocol_type",
                StringType(),
                "Null, or empty in a mirrored cluster: a simple group, which only stores offsets",
            ),
            optional(
                "protocol",
                StringType(),
                "Assignor that the members agreed on, or that most members of a consumer group ask for",
            ),
            required(
                "generation_or_epoch",
                IntegerType(),
                "Generation of a classic group, epoch of any other group",
            ),
            optional(
                "leader",
                StringType(),
                "The member that assigns; null: not a classic group, or no members",
            ),
            required("member_count", IntegerType(), "Number of members"),
            required("offset_count", IntegerType(), "Number of committed offsets"),
            optional(
                "empty_since",
                TimestampType(),
                "Time when the last member left; null: it has members, or is a simple group",
            ),
            optional(
                "next_expiration",
                TimestampType(),
                "Time when the next offset expires, unless the group commits; null: no offset will",
            ),
            UPDATED_AT,
            UPDATE_BATCH_ID,
            required(
                "expiration_base",
                StringType(),
                "Start of the age of its offsets: commit, empty (empty_since) or never",
            ),
            required(
                "protected_topics", ArrayType(StringType()), "Topics whose offsets do not expire"
            ),
            # Columns that are null for classic groups.
            optional(
                "assignment_epoch",
                IntegerType(),
                "The epoch of the members' target assignments",
            ),
            optional(
                "assignment_timestamp",
                TimestampType(),
                "Time when the target assignments were computed; null: not known",
            ),
            optional("metadata_hash", LongType(), "Hash of its topics when its epoch was set"),
            optional(
                "resolved_regexes",
                RESOLVED_REGEXES,
                "The topics that its members' patterns matched",
            ),
            optional(
                "records",
                StringType(),
                "JSON: the newest values of a share or streams group's records, by record type; of a consumer group "
                "targets of members that have no other record yet",
            ),
        ]
    ),
    key=GROUP_KEY,
)
