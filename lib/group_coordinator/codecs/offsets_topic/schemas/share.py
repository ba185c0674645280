"""Record types 10 to 15: share groups (KIP-932)."""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.schemas.fields import (
    GROUP_KEY,
    MEMBER_KEY,
    TARGET_EPOCH,
    TOPIC_PARTITIONS,
    ArrayOf,
    Field,
    RecordSchema,
    Scalar,
    struct,
)

_MEMBER = struct(
    Field("rackId", Scalar.STRING, nullable=True),
    Field("clientId", Scalar.STRING),
    Field("clientHost", Scalar.STRING),
    Field("subscribedTopicNames", ArrayOf(Scalar.STRING)),
)
_GROUP_EPOCH = struct(Field("epoch", Scalar.INT32), Field("metadataHash", Scalar.INT64))
_TARGET = struct(Field("topicPartitions", ArrayOf(struct(*TOPIC_PARTITIONS))))
_CURRENT = struct(
    Field("memberEpoch", Scalar.INT32),
    Field("previousMemberEpoch", Scalar.INT32),
    Field("state", Scalar.INT8),
    Field("assignedPartitions", ArrayOf(struct(*TOPIC_PARTITIONS))),
)
_TOPIC = (Field("topicId", Scalar.UUID), Field("topicName", Scalar.STRING))
_TOPIC_WITH_PARTITIONS = struct(*_TOPIC, Field("partitions", ArrayOf(Scalar.INT32)))
_STATE_OF_TOPICS = struct(
    Field("initializingTopics", ArrayOf(_TOPIC_WITH_PARTITIONS)),
    Field("initializedTopics", ArrayOf(_TOPIC_WITH_PARTITIONS)),
    Field("deletingTopics", ArrayOf(struct(*_TOPIC))),
)

SCHEMAS = (
    RecordSchema(10, "ShareGroupMemberMetadata", MEMBER_KEY, _MEMBER),
    RecordSchema(11, "ShareGroupMetadata", GROUP_KEY, _GROUP_EPOCH),
    RecordSchema(12, "ShareGroupTargetAssignmentMetadata", GROUP_KEY, TARGET_EPOCH),
    RecordSchema(13, "ShareGroupTargetAssignmentMember", MEMBER_KEY, _TARGET),
    RecordSchema(14, "ShareGroupCurrentMemberAssignment", MEMBER_KEY, _CURRENT),
    RecordSchema(15, "ShareGroupStatePartitionMetadata", GROUP_KEY, _STATE_OF_TOPICS),
)
