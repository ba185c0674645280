"""The state tables: groups, members, offsets, group_configs, and the snapshots of the groups.

Each has a row for each key that exists after the latest records. group_configs also has the configurations of groups that do not
exist yet or any more.
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    CONFIG_KEY,
    GROUP_ID,
    GROUP_KEY,
    MEMBER_KEY,
    OFFSET_KEY,
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


GROUP_CONFIGS = TableDefinition(
    "group_configs",
    "A row for each group configuration; the group need not exist",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required(
                "name", StringType(), "The name of the setting, as in IncrementalAlterConfigs"
            ),
            required("value", StringType(), "Its value, as DescribeConfigs shows it"),
            UPDATED_AT,
            UPDATE_BATCH_ID,
        ]
    ),
    key=CONFIG_KEY,
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
