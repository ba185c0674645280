"""The layouts of all messages of __consumer_offsets: the fields of each record type and version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from group_coordinator.binary.notation import (
    Field,
    Message,
    blob,
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
    uuid,
)
from group_coordinator.codecs.records import record_types

Fields: TypeAlias = tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record type. The first field of the key is the group."""

    type: int
    key: Message
    value: Message


def _record(
    record_type: int,
    name: str,
    *,
    key: Fields,
    value: Fields,
    last_version: int = 0,
    flexible_since: int | None = 0,
) -> Record:
    """Define a record type. `last_version` and `flexible_since` are the value's; keys have version 0, which is not flexible."""
    return Record(
        record_type,
        Message(f"{name}Key", range(1), None, key),
        Message(f"{name}Value", range(last_version + 1), flexible_since, value),
    )


def _of_group(record_type: int, name: str, value: Iterable[Field]) -> Record:
    return _record(record_type, name, key=(string("groupId"),), value=tuple(value))


def _of_member(record_type: int, name: str, value: Iterable[Field]) -> Record:
    key = (string("groupId"), string("memberId"))
    return _record(record_type, name, key=key, value=tuple(value))


_TARGET_EPOCH = (int32("assignmentEpoch"), int64("assignmentTimestamp", tag=0))
"""The value of the same record in consumer, share and streams groups."""

_KEY = (string("group"), string("topic"), int32("partition"))
_TOPIC_PARTITIONS = (uuid("topicId"), int32s("partitions"))
_EPOCHS = int32s("assignmentEpochs", nullable=True, tag=0)
_OWNED = (*_TOPIC_PARTITIONS, _EPOCHS)
_SHARED_TOPIC = (uuid("topicId"), string("topicName"))
_KEY_VALUE = (string("key"), string("value"))
_TASKS = (string("subtopologyId"), int32s("partitions"))
_OWNED_TASKS = (*_TASKS, _EPOCHS)
_TOPIC = (
    string("name"),
    int32("partitions"),
    int16("replicationFactor"),
    structs("topicConfigs")[*_KEY_VALUE],
)

_RECORDS = (
    _record(
        record_types.LEGACY_OFFSET_COMMIT,
        "LegacyOffsetCommit",
        key=_KEY,
        value=(int64("offset"), string("metadata"), int64("commitTimestamp")),
        flexible_since=None,
    ),
    _record(
        record_types.OFFSET_COMMIT,
        "OffsetCommit",
        key=_KEY,
        value=(
            int64("offset"),
            int32("leaderEpoch", since=3, default=-1),
            string("metadata"),
            int64("commitTimestamp"),
            int64("expireTimestamp", since=1, until=1, default=-1),
            uuid("topicId", since=4, tag=0),
        ),
        last_version=4,
        flexible_since=4,
    ),
    _record(
        record_types.GROUP_METADATA,
        "GroupMetadata",
        key=(string("group"),),
        value=(
            string("protocolType"),
            int32("generation"),
            string("protocol", nullable=True),
            string("leader", nullable=True),
            int64("currentStateTimestamp", since=2, default=-1),
            structs("members")[
                string("memberId"),
                string("groupInstanceId", since=3, nullable=True, default=None),
                string("clientId"),
                string("clientHost"),
                int32("rebalanceTimeout", since=1, default=-1),
                int32("sessionTimeout"),
                blob("subscription"),
                blob("assignment"),
            ],
        ),
        last_version=4,
        flexible_since=4,
    ),
    _of_group(
        record_types.GROUP_EPOCH,
        "ConsumerGroupMetadata",
        [int32("epoch"), int64("metadataHash", tag=0)],
    ),
    _of_group(
        record_types.PARTITION_METADATA,
        "ConsumerGroupPartitionMetadata",
        [
            structs("topics")[
                uuid("topicId"),
                string("topicName"),
                int32("numPartitions"),
                structs("partitionMetadata")[int32("partition"), strings("racks")],
            ]
        ],
    ),
    _of_member(
        record_types.MEMBER_METADATA,
        "ConsumerGroupMemberMetadata",
        [
            string("instanceId", nullable=True),
            string("rackId", nullable=True),
            string("clientId"),
            string("clientHost"),
            strings("subscribedTopicNames"),
            string("subscribedTopicRegex", nullable=True),
            int32("rebalanceTimeoutMs", default=-1),
            string("serverAssignor", nullable=True),
            struct("classicMemberMetadata", nullable=True, tag=0)[
                int32("sessionTimeoutMs"),
                structs("supportedProtocols")[string("name"), blob("metadata")],
            ],
        ],
    ),
    _of_group(record_types.TARGET_EPOCH, "ConsumerGroupTargetAssignmentMetadata", _TARGET_EPOCH),
    _of_member(
        record_types.TARGET_ASSIGNMENT,
        "ConsumerGroupTargetAssignmentMember",
        [structs("topicPartitions")[*_TOPIC_PARTITIONS]],
    ),
    _of_member(
        record_types.CURRENT_ASSIGNMENT,
        "ConsumerGroupCurrentMemberAssignment",
        [
            int32("memberEpoch"),
            int32("previousMemberEpoch"),
            int8("state"),
            structs("assignedPartitions")[*_OWNED],
            structs("partitionsPendingRevocation")[*_OWNED],
        ],
    ),
    _record(
        record_types.REGULAR_EXPRESSION,
        "ConsumerGroupRegularExpression",
        key=(string("groupId"), string("regularExpression")),
        value=(strings("topics"), int64("version"), int64("timestamp")),
    ),
    _of_member(
        record_types.SHARE_MEMBER_METADATA,
        "ShareGroupMemberMetadata",
        [
            string("rackId", nullable=True),
            string("clientId"),
            string("clientHost"),
            strings("subscribedTopicNames"),
        ],
    ),
    _of_group(
        record_types.SHARE_GROUP_EPOCH,
        "ShareGroupMetadata",
        [int32("epoch"), int64("metadataHash")],
    ),
    _of_group(record_types.SHARE_TARGET_EPOCH, "ShareGroupTargetAssignmentMetadata", _TARGET_EPOCH),
    _of_member(
        record_types.SHARE_TARGET_ASSIGNMENT,
        "ShareGroupTargetAssignmentMember",
        [structs("topicPartitions")[*_TOPIC_PARTITIONS]],
    ),
    _of_member(
        record_types.SHARE_CURRENT_ASSIGNMENT,
        "ShareGroupCurrentMemberAssignment",
        [
            int32("memberEpoch"),
            int32("previousMemberEpoch"),
            int8("state"),
            structs("assignedPartitions")[*_TOPIC_PARTITIONS],
        ],
    ),
    _of_group(
        record_types.SHARE_STATE_OF_TOPICS,
        "ShareGroupStatePartitionMetadata",
        [
            structs("initializingTopics")[*_SHARED_TOPIC, int32s("partitions")],
            structs("initializedTopics")[*_SHARED_TOPIC, int32s("partitions")],
            structs("deletingTopics")[*_SHARED_TOPIC],
        ],
    ),
    _of_group(
        record_types.STREAMS_GROUP_EPOCH,
        "StreamsGroupMetadata",
        [
            int32("epoch"),
            int64("metadataHash"),
            int32("validatedTopologyEpoch", tag=0, default=-1),
            structs("lastAssignmentConfigs", nullable=True, tag=1)[*_KEY_VALUE],
            int32("storedDescriptionTopologyEpoch", tag=2, default=-1),
            int32("failedDescriptionTopologyEpoch", tag=3, default=-1),
        ],
    ),
    _of_member(
        record_types.STREAMS_MEMBER_METADATA,
        "StreamsGroupMemberMetadata",
        [
            string("instanceId", nullable=True),
            string("rackId", nullable=True),
            string("clientId"),
            string("clientHost"),
            int32("rebalanceTimeoutMs", default=-1),
            int32("topologyEpoch"),
            string("processId"),
            struct("userEndpoint", nullable=True, default=None)[string("host"), uint16("port")],
            structs("clientTags")[*_KEY_VALUE],
        ],
    ),
    _of_group(
        record_types.STREAMS_TARGET_EPOCH, "StreamsGroupTargetAssignmentMetadata", _TARGET_EPOCH
    ),
    _of_member(
        record_types.STREAMS_TARGET_ASSIGNMENT,
        "StreamsGroupTargetAssignmentMember",
        [
            structs("activeTasks")[*_TASKS],
            structs("standbyTasks")[*_TASKS],
            structs("warmupTasks")[*_TASKS],
        ],
    ),
    _of_member(
        record_types.STREAMS_CURRENT_ASSIGNMENT,
        "StreamsGroupCurrentMemberAssignment",
        [
            int32("memberEpoch"),
            int32("previousMemberEpoch"),
            int8("state"),
            structs("activeTasks")[*_OWNED_TASKS],
            structs("standbyTasks")[*_OWNED_TASKS],
            structs("warmupTasks")[*_OWNED_TASKS],
            structs("activeTasksPendingRevocation")[*_OWNED_TASKS],
            structs("standbyTasksPendingRevocation")[*_OWNED_TASKS],
            structs("warmupTasksPendingRevocation")[*_OWNED_TASKS],
        ],
    ),
    _of_group(
        record_types.STREAMS_TOPOLOGY,
        "StreamsGroupTopology",
        [
            int32("epoch"),
            structs("subtopologies")[
                string("subtopologyId"),
                strings("sourceTopics"),
                strings("sourceTopicRegex"),
                structs("stateChangelogTopics")[*_TOPIC],
                strings("repartitionSinkTopics"),
                structs("repartitionSourceTopics")[*_TOPIC],
                structs("copartitionGroups")[
                    int16s("sourceTopics"),
                    int16s("sourceTopicRegex"),
                    int16s("repartitionSourceTopics"),
                ],
            ],
        ],
    ),
)

RECORDS: dict[int, Record] = {record.type: record for record in _RECORDS}
"""The record types of Kafka 4.4.0 by number. Kafka does not use 9 and 18."""
