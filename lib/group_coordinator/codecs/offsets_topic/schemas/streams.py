"""Record types 17 and 19 to 23: streams groups (KIP-1071)."""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.schemas.fields import (
    GROUP_KEY,
    MEMBER_KEY,
    TARGET_EPOCH,
    ArrayOf,
    Field,
    RecordSchema,
    Scalar,
    TaggedField,
    struct,
)

_KEY_VALUE = struct(Field("key", Scalar.STRING), Field("value", Scalar.STRING))

_GROUP_EPOCH = struct(
    Field("epoch", Scalar.INT32),
    Field("metadataHash", Scalar.INT64),
    TaggedField("validatedTopologyEpoch", Scalar.INT32, tag=0, default=-1),
    TaggedField("lastAssignmentConfigs", ArrayOf(_KEY_VALUE), nullable=True, tag=1, default=[]),
    TaggedField("storedDescriptionTopologyEpoch", Scalar.INT32, tag=2, default=-1),
    TaggedField("failedDescriptionTopologyEpoch", Scalar.INT32, tag=3, default=-1),
)

_ENDPOINT = struct(Field("host", Scalar.STRING), Field("port", Scalar.UINT16))
_MEMBER = struct(
    Field("instanceId", Scalar.STRING, nullable=True),
    Field("rackId", Scalar.STRING, nullable=True),
    Field("clientId", Scalar.STRING),
    Field("clientHost", Scalar.STRING),
    Field("rebalanceTimeoutMs", Scalar.INT32),
    Field("topologyEpoch", Scalar.INT32),
    Field("processId", Scalar.STRING),
    Field("userEndpoint", _ENDPOINT, nullable=True),
    Field("clientTags", ArrayOf(_KEY_VALUE)),
)

_TASK_IDS = (Field("subtopologyId", Scalar.STRING), Field("partitions", ArrayOf(Scalar.INT32)))
_TASKS = ArrayOf(struct(*_TASK_IDS))
_TARGET = struct(
    Field("activeTasks", _TASKS),
    Field("standbyTasks", _TASKS),
    Field("warmupTasks", _TASKS),
)

_OWNED_TASKS = ArrayOf(
    struct(
        *_TASK_IDS,
        TaggedField("assignmentEpochs", ArrayOf(Scalar.INT32), nullable=True, tag=0, default=[]),
    )
)
_CURRENT = struct(
    Field("memberEpoch", Scalar.INT32),
    Field("previousMemberEpoch", Scalar.INT32),
    Field("state", Scalar.INT8),
    Field("activeTasks", _OWNED_TASKS),
    Field("standbyTasks", _OWNED_TASKS),
    Field("warmupTasks", _OWNED_TASKS),
    Field("activeTasksPendingRevocation", _OWNED_TASKS),
    Field("standbyTasksPendingRevocation", _OWNED_TASKS),
    Field("warmupTasksPendingRevocation", _OWNED_TASKS),
)

_TOPIC_INFO = struct(
    Field("name", Scalar.STRING),
    Field("partitions", Scalar.INT32),
    Field("replicationFactor", Scalar.INT16),
    Field("topicConfigs", ArrayOf(_KEY_VALUE)),
)
_COPARTITION_GROUP = struct(
    Field("sourceTopics", ArrayOf(Scalar.INT16)),
    Field("sourceTopicRegex", ArrayOf(Scalar.INT16)),
    Field("repartitionSourceTopics", ArrayOf(Scalar.INT16)),
)
_SUBTOPOLOGY = struct(
    Field("subtopologyId", Scalar.STRING),
    Field("sourceTopics", ArrayOf(Scalar.STRING)),
    Field("sourceTopicRegex", ArrayOf(Scalar.STRING)),
    Field("stateChangelogTopics", ArrayOf(_TOPIC_INFO)),
    Field("repartitionSinkTopics", ArrayOf(Scalar.STRING)),
    Field("repartitionSourceTopics", ArrayOf(_TOPIC_INFO)),
    Field("copartitionGroups", ArrayOf(_COPARTITION_GROUP)),
)
_TOPOLOGY = struct(
    Field("epoch", Scalar.INT32),
    Field("subtopologies", ArrayOf(_SUBTOPOLOGY)),
)

SCHEMAS = (
    RecordSchema(17, "StreamsGroupMetadata", GROUP_KEY, _GROUP_EPOCH),
    RecordSchema(19, "StreamsGroupMemberMetadata", MEMBER_KEY, _MEMBER),
    RecordSchema(20, "StreamsGroupTargetAssignmentMetadata", GROUP_KEY, TARGET_EPOCH),
    RecordSchema(21, "StreamsGroupTargetAssignmentMember", MEMBER_KEY, _TARGET),
    RecordSchema(22, "StreamsGroupCurrentMemberAssignment", MEMBER_KEY, _CURRENT),
    RecordSchema(23, "StreamsGroupTopology", GROUP_KEY, _TOPOLOGY),
)
