"""The members of the groups that exist."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_ID,
    MEMBER_KEY,
    UPDATE_BATCH_ID,
    UPDATED_AT,
    TableDefinition,
    optional,
    required,
)

TOPIC_PARTITIONS = ArrayType(
    StructType([StructField("topic", StringType()), StructField("partition", IntegerType())])
)

TARGET_PARTITIONS = ArrayType(
    StructType(
        [
            StructField("topic", StringType()),
            StructField("topic_id", StringType()),
            StructField("partition", IntegerType()),
        ]
    )
)
OWNED_PARTITIONS = ArrayType(
    StructType(
        [
            StructField("topic", StringType()),
            StructField("topic_id", StringType()),
            StructField("partition", IntegerType()),
            StructField("assignment_epoch", IntegerType()),
        ]
    )
)

MEMBERS = TableDefinition(
    "members",
    "One row per member of a group",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required("member_id", StringType(), "The member's id"),
            optional(
                "group_instance_id",
                StringType(),
                "Instance id of a static member; null: a dynamic one",
            ),
            optional("client_id", StringType(), "What the client calls itself"),
            optional("client_host", StringType(), "Address of the client"),
            optional(
                "session_timeout_ms",
                IntegerType(),
                "How long it may be silent; null: as its group says",
            ),
            optional(
                "rebalance_timeout_ms",
                IntegerType(),
                "How long it may take to rejoin, or to give partitions back",
            ),
            optional("subscribed_topics", ArrayType(StringType()), "By name; null: not readable"),
            optional("assigned_partitions", TOPIC_PARTITIONS, "What it has; null: not readable"),
            optional(
                "member_epoch", IntegerType(), "Null: a member of a classic group, which has none"
            ),
            UPDATED_AT,
            UPDATE_BATCH_ID,
            # What members of classic groups do not have.
            optional(
                "member_type",
                StringType(),
                "Protocol it speaks: classic, consumer, share or streams",
            ),
            optional("rack_id", StringType(), "Rack of the client"),
            optional("subscribed_regex", StringType(), "Pattern that it subscribes to"),
            optional("server_assignor", StringType(), "Assignor that it asks for"),
            optional(
                "previous_member_epoch",
                IntegerType(),
                "The epoch before, which its requests may still name",
            ),
            optional("member_state", StringType(), "How far it is on the way to its target"),
            optional(
                "current_assignment", OWNED_PARTITIONS, "Partitions it has, and since which epoch"
            ),
            optional("pending_revocation", OWNED_PARTITIONS, "Partitions it has yet to give back"),
            optional("target_assignment", TARGET_PARTITIONS, "Partitions it is to have in the end"),
        ]
    ),
    key=MEMBER_KEY,
)
