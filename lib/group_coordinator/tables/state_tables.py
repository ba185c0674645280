"""The state tables, with a row for each key that exists after the latest records; and the snapshots of the groups."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
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
    described,
    optional,
    required,
    table_of,
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

GROUPS = table_of(
    "groups",
    "A row for each existing group",
    [
        *(CLUSTER_ID, GROUP_ID),
        *described(
            """
            group_type string classic or consumer; in a mirrored cluster also share or streams
            state string State by the log; a classic group is Stable with members, Empty without
            protocol_type? string Null, or empty in a mirrored cluster: a simple group, which only stores offsets
            protocol? string Assignor that the members agreed on, or that most members of a consumer group ask for
            generation_or_epoch int Generation of a classic group, epoch of any other group
            leader? string The member that assigns; null: not a classic group, or no members
            member_count int Number of members
            offset_count int Number of committed offsets
            empty_since? timestamp Time when the last member left; null: it has members, or is a simple group
            next_expiration? timestamp Time when the next offset expires, unless the group commits; null: no offset will
            """
        ),
        *(UPDATED_AT, UPDATE_BATCH_ID),
        required(
            "expiration_base",
            "string",
            "Start of the age of its offsets: commit, empty (empty_since) or never",
        ),
        required("protected_topics", ArrayType(StringType()), "Topics whose offsets do not expire"),
        # Columns that are null for classic groups.
        optional("assignment_epoch", "int", "The epoch of the members' target assignments"),
        optional(
            "assignment_timestamp",
            "timestamp",
            "Time when the target assignments were computed; null: not known",
        ),
        optional("metadata_hash", "bigint", "Hash of its topics when its epoch was set"),
        optional(
            "resolved_regexes", RESOLVED_REGEXES, "The topics that its members' patterns matched"
        ),
        optional(
            "records",
            "string",
            "JSON: the newest values of a share or streams group's records, by record type; of a consumer group "
            "targets of members that have no other record yet",
        ),
    ],
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

MEMBERS = table_of(
    "members",
    "A row for each member of a group",
    [
        *(CLUSTER_ID, GROUP_ID),
        required("member_id", "string", "The member's id"),
        optional(
            "group_instance_id", "string", "Instance id of a static member; null: a dynamic member"
        ),
        optional("client_id", "string", "The client id"),
        optional("client_host", "string", "Address of the client"),
        optional("session_timeout_ms", "int", "Session timeout; null: the group's"),
        optional("rebalance_timeout_ms", "int", "Timeout to rejoin, or to give partitions back"),
        optional("subscribed_topics", ArrayType(StringType()), "By name; null: not readable"),
        optional(
            "assigned_partitions", TOPIC_PARTITIONS, "Assigned partitions; null: not readable"
        ),
        optional("member_epoch", "int", "Member epoch; null: a member of a classic group"),
        *(UPDATED_AT, UPDATE_BATCH_ID),
        # Columns that are null for members of classic groups.
        optional(
            "member_type", "string", "Protocol of the member: classic, consumer, share or streams"
        ),
        optional("rack_id", "string", "Rack of the client"),
        optional("subscribed_regex", "string", "Subscribed pattern"),
        optional("server_assignor", "string", "Requested assignor"),
        optional(
            "previous_member_epoch", "int", "The previous epoch, which requests may still name"
        ),
        optional("member_state", "string", "State of its reconciliation"),
        optional(
            "current_assignment",
            OWNED_PARTITIONS,
            "Partitions that it owns, each with its first epoch",
        ),
        optional("pending_revocation", OWNED_PARTITIONS, "Partitions that it must still give back"),
        optional("target_assignment", TARGET_PARTITIONS, "Partitions that it shall own"),
        # Null for members of any other group.
        optional(
            "has_user_data",
            "boolean",
            "A consumer of a classic group has user data in its assignment, which custom assignors write; null: not readable, "
            "any other member, or a row of a version before 0.4",
        ),
    ],
    key=MEMBER_KEY,
)


OFFSETS = table_of(
    "offsets",
    "A row for each committed offset",
    [
        *(CLUSTER_ID, GROUP_ID),
        *described(
            """
            topic string The topic
            topic_id? string The topic's id; null: the commit had none
            partition int The partition
            committed_offset bigint The next offset that the group reads
            leader_epoch? int Leader epoch of the last record read; null: not known
            metadata? string The client's text with the offset
            commit_timestamp timestamp Time of the commit
            expire_timestamp? timestamp Time of expiration, if the client set it; null: not set
            expires_at? timestamp Time of expiration, unless committed again; null: the offset is protected
            """
        ),
        *(UPDATED_AT, UPDATE_BATCH_ID),
    ],
    key=OFFSET_KEY,
)


# Also of groups that do not exist yet or any more.
GROUP_CONFIGS = table_of(
    "group_configs",
    "A row for each group configuration; the group need not exist",
    [
        *(CLUSTER_ID, GROUP_ID),
        required("name", "string", "The name of the setting, as in IncrementalAlterConfigs"),
        required("value", "string", "Its value, as DescribeConfigs shows it"),
        *(UPDATED_AT, UPDATE_BATCH_ID),
    ],
    key=CONFIG_KEY,
)


SNAPSHOTS = table_of(
    "snapshots",
    "Each group as it was after a batch: a rebuild starts from these rows; for this program alone",
    [
        CLUSTER_ID,
        optional("group_id", "string", "The group; null: the row that is about all groups"),
        required("batch_id", "bigint", "The last batch of the log in the snapshot"),
        required("layout", "int", "The state version"),
        optional("state", "binary", "The group; null: the row that is about all groups"),
        optional("events_topic", "string", "In the row about all groups: the events topic"),
        optional(
            "handled",
            MapType(IntegerType(), LongType()),
            "In the same row: the last event of each partition that changed the tables",
        ),
        required("taken_at", "timestamp", "Time of the snapshot, by the wall clock"),
    ],
    key=GROUP_KEY,
)
