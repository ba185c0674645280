"""Record types 17 and 19 to 23: streams groups (KIP-1071)."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    int8,
    int16,
    int16s,
    int32,
    int32s,
    int64,
    string,
    strings,
    struct,
    structs,
    uint16,
)
from group_coordinator.codecs.offsets_topic.schemas.record import (
    GROUP_KEY,
    MEMBER_KEY,
    TARGET_EPOCH,
    record,
)
from group_coordinator.codecs.records import record_types

_KEY_VALUE = (string("key"), string("value"))
_TASKS = (string("subtopologyId"), int32s("partitions"))
_OWNED_TASKS = (*_TASKS, int32s("assignmentEpochs", nullable=True, tag=0))
_TOPIC = (
    string("name"),
    int32("partitions"),
    int16("replicationFactor"),
    structs("topicConfigs", *_KEY_VALUE),
)

RECORDS = (
    record(
        record_types.STREAMS_GROUP_EPOCH,
        "StreamsGroupMetadata",
        key=GROUP_KEY,
        value=(
            int32("epoch"),
            int64("metadataHash"),
            int32("validatedTopologyEpoch", tag=0, default=-1),
            structs("lastAssignmentConfigs", *_KEY_VALUE, nullable=True, tag=1),
            int32("storedDescriptionTopologyEpoch", tag=2, default=-1),
            int32("failedDescriptionTopologyEpoch", tag=3, default=-1),
        ),
    ),
    record(
        record_types.STREAMS_MEMBER_METADATA,
        "StreamsGroupMemberMetadata",
        key=MEMBER_KEY,
        value=(
            string("instanceId", nullable=True),
            string("rackId", nullable=True),
            string("clientId"),
            string("clientHost"),
            int32("rebalanceTimeoutMs", default=-1),
            int32("topologyEpoch"),
            string("processId"),
            struct("userEndpoint", string("host"), uint16("port"), nullable=True, default=None),
            structs("clientTags", *_KEY_VALUE),
        ),
    ),
    record(
        record_types.STREAMS_TARGET_EPOCH,
        "StreamsGroupTargetAssignmentMetadata",
        key=GROUP_KEY,
        value=TARGET_EPOCH,
    ),
    record(
        record_types.STREAMS_TARGET_ASSIGNMENT,
        "StreamsGroupTargetAssignmentMember",
        key=MEMBER_KEY,
        value=(
            structs("activeTasks", *_TASKS),
            structs("standbyTasks", *_TASKS),
            structs("warmupTasks", *_TASKS),
        ),
    ),
    record(
        record_types.STREAMS_CURRENT_ASSIGNMENT,
        "StreamsGroupCurrentMemberAssignment",
        key=MEMBER_KEY,
        value=(
            int32("memberEpoch"),
            int32("previousMemberEpoch"),
            int8("state"),
            structs("activeTasks", *_OWNED_TASKS),
            structs("standbyTasks", *_OWNED_TASKS),
            structs("warmupTasks", *_OWNED_TASKS),
            structs("activeTasksPendingRevocation", *_OWNED_TASKS),
            structs("standbyTasksPendingRevocation", *_OWNED_TASKS),
            structs("warmupTasksPendingRevocation", *_OWNED_TASKS),
        ),
    ),
    record(
        record_types.STREAMS_TOPOLOGY,
        "StreamsGroupTopology",
        key=GROUP_KEY,
        value=(
            int32("epoch"),
            structs(
                "subtopologies",
                string("subtopologyId"),
                strings("sourceTopics"),
                strings("sourceTopicRegex"),
                structs("stateChangelogTopics", *_TOPIC),
                strings("repartitionSinkTopics"),
                structs("repartitionSourceTopics", *_TOPIC),
                structs(
                    "copartitionGroups",
                    int16s("sourceTopics"),
                    int16s("sourceTopicRegex"),
                    int16s("repartitionSourceTopics"),
                ),
            ),
        ),
    ),
)
