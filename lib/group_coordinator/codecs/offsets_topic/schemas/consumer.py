"""Record types 3 to 8 and 16: consumer groups (KIP-848)."""

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
    TaggedField,
    struct,
)
from group_coordinator.codecs.records import record_types

_GROUP_EPOCH = struct(
    Field("epoch", Scalar.INT32),
    TaggedField("metadataHash", Scalar.INT64, tag=0, default=0),
)

_PARTITION_METADATA = struct(
    Field("partition", Scalar.INT32),
    Field("racks", ArrayOf(Scalar.STRING)),
)
_TOPIC_METADATA = struct(
    Field("topicId", Scalar.UUID),
    Field("topicName", Scalar.STRING),
    Field("numPartitions", Scalar.INT32),
    Field("partitionMetadata", ArrayOf(_PARTITION_METADATA)),
)
_TOPICS = struct(Field("topics", ArrayOf(_TOPIC_METADATA)))

_PROTOCOL = struct(Field("name", Scalar.STRING), Field("metadata", Scalar.BYTES))
_CLASSIC_METADATA = struct(
    Field("sessionTimeoutMs", Scalar.INT32),
    Field("supportedProtocols", ArrayOf(_PROTOCOL)),
)
_MEMBER = struct(
    Field("instanceId", Scalar.STRING, nullable=True),
    Field("rackId", Scalar.STRING, nullable=True),
    Field("clientId", Scalar.STRING),
    Field("clientHost", Scalar.STRING),
    Field("subscribedTopicNames", ArrayOf(Scalar.STRING)),
    Field("subscribedTopicRegex", Scalar.STRING, nullable=True),
    Field("rebalanceTimeoutMs", Scalar.INT32),
    Field("serverAssignor", Scalar.STRING, nullable=True),
    TaggedField(
        "classicMemberMetadata",
        _CLASSIC_METADATA,
        nullable=True,
        tag=0,
        default={"sessionTimeoutMs": 0, "supportedProtocols": []},
    ),
)

_TARGET = struct(Field("topicPartitions", ArrayOf(struct(*TOPIC_PARTITIONS))))

_OWNED = struct(
    *TOPIC_PARTITIONS,
    TaggedField("assignmentEpochs", ArrayOf(Scalar.INT32), nullable=True, tag=0, default=[]),
)
_CURRENT = struct(
    Field("memberEpoch", Scalar.INT32),
    Field("previousMemberEpoch", Scalar.INT32),
    Field("state", Scalar.INT8),
    Field("assignedPartitions", ArrayOf(_OWNED)),
    Field("partitionsPendingRevocation", ArrayOf(_OWNED)),
)

_REGEX_KEY = struct(Field("groupId", Scalar.STRING), Field("regularExpression", Scalar.STRING))
_REGEX = struct(
    Field("topics", ArrayOf(Scalar.STRING)),
    Field("version", Scalar.INT64),
    Field("timestamp", Scalar.INT64),
)

SCHEMAS = (
    RecordSchema(record_types.GROUP_EPOCH, "ConsumerGroupMetadata", GROUP_KEY, _GROUP_EPOCH),
    RecordSchema(
        record_types.PARTITION_METADATA, "ConsumerGroupPartitionMetadata", GROUP_KEY, _TOPICS
    ),
    RecordSchema(record_types.MEMBER_METADATA, "ConsumerGroupMemberMetadata", MEMBER_KEY, _MEMBER),
    RecordSchema(
        record_types.TARGET_EPOCH, "ConsumerGroupTargetAssignmentMetadata", GROUP_KEY, TARGET_EPOCH
    ),
    RecordSchema(
        record_types.TARGET_ASSIGNMENT, "ConsumerGroupTargetAssignmentMember", MEMBER_KEY, _TARGET
    ),
    RecordSchema(
        record_types.CURRENT_ASSIGNMENT,
        "ConsumerGroupCurrentMemberAssignment",
        MEMBER_KEY,
        _CURRENT,
    ),
    RecordSchema(
        record_types.REGULAR_EXPRESSION, "ConsumerGroupRegularExpression", _REGEX_KEY, _REGEX
    ),
)
