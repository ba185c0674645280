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
    GROUP_KEY,
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
    "One row a member of a group",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required("member_id", StringType(), "The member"),
            optional("group_instance_id", StringType(), "The name of a static member"),
            optional("client_id", StringType(), "What the client calls itself"),
            optional("client_host", StringType(), "Where the client is"),
            optional("session_timeout_ms", IntegerType(), "How long it may be silent"),
            optional("rebalance_timeout_ms", IntegerType(), "How long it may take to rejoin"),
            optional("subscribed_topics", ArrayType(StringType()), "Null: not readable"),
            optional("assigned_partitions", TOPIC_PARTITIONS, "Null: not readable"),
            optional("member_epoch", IntegerType(), "Null: a member of a classic group has none"),
            UPDATED_AT,
            UPDATE_BATCH_ID,
            # What only members of consumer groups (KIP-848) have.
            optional("member_type", StringType(), "The protocol it speaks: classic or consumer"),
            optional("rack_id", StringType(), "The rack of the client"),
            optional("subscribed_regex", StringType(), "The pattern that it subscribes to"),
            optional("server_assignor", StringType(), "The assignor that it asks for"),
            optional("previous_member_epoch", IntegerType(), "An epoch that it may still name"),
            optional("member_state", StringType(), "How far it is on its way to its target"),
            optional("current_assignment", OWNED_PARTITIONS, "What it has, and since which epoch"),
            optional("pending_revocation", OWNED_PARTITIONS, "What it has yet to give back"),
            optional("target_assignment", TARGET_PARTITIONS, "What it shall have"),
        ]
    ),
    clustered_by=GROUP_KEY,
    key=MEMBER_KEY,
)
