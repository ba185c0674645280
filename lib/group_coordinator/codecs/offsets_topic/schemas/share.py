"""Record types 10 to 15: share groups (KIP-932)."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    int8,
    int32,
    int32s,
    int64,
    string,
    strings,
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

_TOPIC_PARTITIONS = (uuid("topicId"), int32s("partitions"))
_TOPIC = (uuid("topicId"), string("topicName"))

RECORDS = (
    record(
        record_types.SHARE_MEMBER_METADATA,
        "ShareGroupMemberMetadata",
        key=MEMBER_KEY,
        value=(
            string("rackId", nullable=True),
            string("clientId"),
            string("clientHost"),
            strings("subscribedTopicNames"),
        ),
    ),
    record(
        record_types.SHARE_GROUP_EPOCH,
        "ShareGroupMetadata",
        key=GROUP_KEY,
        value=(int32("epoch"), int64("metadataHash")),
    ),
    record(
        record_types.SHARE_TARGET_EPOCH,
        "ShareGroupTargetAssignmentMetadata",
        key=GROUP_KEY,
        value=TARGET_EPOCH,
    ),
    record(
        record_types.SHARE_TARGET_ASSIGNMENT,
        "ShareGroupTargetAssignmentMember",
        key=MEMBER_KEY,
        value=(structs("topicPartitions", *_TOPIC_PARTITIONS),),
    ),
    record(
        record_types.SHARE_CURRENT_ASSIGNMENT,
        "ShareGroupCurrentMemberAssignment",
        key=MEMBER_KEY,
        value=(
            int32("memberEpoch"),
            int32("previousMemberEpoch"),
            int8("state"),
            structs("assignedPartitions", *_TOPIC_PARTITIONS),
        ),
    ),
    record(
        record_types.SHARE_STATE_OF_TOPICS,
        "ShareGroupStatePartitionMetadata",
        key=GROUP_KEY,
        value=(
            structs("initializingTopics", *_TOPIC, int32s("partitions")),
            structs("initializedTopics", *_TOPIC, int32s("partitions")),
            structs("deletingTopics", *_TOPIC),
        ),
    ),
)
