"""The table members: the members of the existing groups."""

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
    "A row for each member of a group",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required("member_id", StringType(), "The member's id"),
            optional(
                "group_instance_id",
                StringType(),
                "Instance id of a static member; null: a dynamic member",
            ),
            optional("client_id", StringType(), "The client id"),
            optional("client_host", StringType(), "Address of the client"),
            optional(
                "session_timeout_ms",
                IntegerType(),
                "Session timeout; null: the group's",
            ),
            optional(
                "rebalance_timeout_ms",
                IntegerType(),
                "Timeout to rejoin, or to give partitions back",
            ),
            optional("subscribed_topics", ArrayType(StringType()), "By name; null: not readable"),
            optional(
                "assigned_partitions", TOPIC_PARTITIONS, "Assigned partitions; null: not readable"
            ),
            optional(
                "member_epoch", IntegerType(), "Member epoch; null: a member of a classic group"
            ),
            UPDATED_AT,
            UPDATE_BATCH_ID,
            # Columns that are null for members of classic groups.
            optional(
                "member_type",
                StringType(),
                "Protocol of the member: classic, consumer, share or streams",
            ),
            optional("rack_id", StringType(), "Rack of the client"),
            optional("subscribed_regex", StringType(), "Subscribed pattern"),
            optional("server_assignor", StringType(), "Requested assignor"),
            optional(
                "previous_member_epoch",
                IntegerType(),
                "The previous epoch, which requests may still name",
            ),
            optional("member_state", StringType(), "State of its reconciliation"),
            optional(
                "current_assignment",
                OWNED_PARTITIONS,
                "Partitions that it owns, each with its first epoch",
            ),
            optional(
                "pending_revocation", OWNED_PARTITIONS, "Partitions that it must still give back"
            ),
            optional("target_assignment", TARGET_PARTITIONS, "Partitions that it shall own"),
        ]
    ),
    key=MEMBER_KEY,
)
