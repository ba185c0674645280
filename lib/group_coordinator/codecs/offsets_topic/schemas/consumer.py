"""Record types 3 to 8 and 16: consumer groups (KIP-848)."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    blob,
    int8,
    int32,
    int32s,
    int64,
    string,
    strings,
    struct,
    structs,
    uuid,
)
from group_coordinator.codecs.offsets_topic.schemas.record import (
    GROUP_KEY,
    MEMBER_KEY,
    TARGET_EPOCH,
    record,
)
from group_coordinator.codecs.records import record_types

_OWNED = (
    uuid("topicId"),
    int32s("partitions"),
    int32s("assignmentEpochs", nullable=True, tag=0),
)

RECORDS = (
    record(
        record_types.GROUP_EPOCH,
        "ConsumerGroupMetadata",
        key=GROUP_KEY,
        value=(int32("epoch"), int64("metadataHash", tag=0)),
    ),
    record(
        record_types.PARTITION_METADATA,
        "ConsumerGroupPartitionMetadata",
        key=GROUP_KEY,
        value=(
            structs(
                "topics",
                uuid("topicId"),
                string("topicName"),
                int32("numPartitions"),
                structs("partitionMetadata", int32("partition"), strings("racks")),
            ),
        ),
    ),
    record(
        record_types.MEMBER_METADATA,
        "ConsumerGroupMemberMetadata",
        key=MEMBER_KEY,
        value=(
            string("instanceId", nullable=True),
            string("rackId", nullable=True),
            string("clientId"),
            string("clientHost"),
            strings("subscribedTopicNames"),
            string("subscribedTopicRegex", nullable=True),
            int32("rebalanceTimeoutMs", default=-1),
            string("serverAssignor", nullable=True),
            struct(
                "classicMemberMetadata",
                int32("sessionTimeoutMs"),
                structs("supportedProtocols", string("name"), blob("metadata")),
                nullable=True,
                tag=0,
            ),
        ),
    ),
    record(
        record_types.TARGET_EPOCH,
        "ConsumerGroupTargetAssignmentMetadata",
        key=GROUP_KEY,
        value=TARGET_EPOCH,
    ),
    record(
        record_types.TARGET_ASSIGNMENT,
        "ConsumerGroupTargetAssignmentMember",
        key=MEMBER_KEY,
        value=(structs("topicPartitions", uuid("topicId"), int32s("partitions")),),
    ),
    record(
        record_types.CURRENT_ASSIGNMENT,
        "ConsumerGroupCurrentMemberAssignment",
        key=MEMBER_KEY,
        value=(
            int32("memberEpoch"),
            int32("previousMemberEpoch"),
            int8("state"),
            structs("assignedPartitions", *_OWNED),
            structs("partitionsPendingRevocation", *_OWNED),
        ),
    ),
    record(
        record_types.REGULAR_EXPRESSION,
        "ConsumerGroupRegularExpression",
        key=(string("groupId"), string("regularExpression")),
        value=(strings("topics"), int64("version"), int64("timestamp")),
    ),
)
