"""APIs of groups of both protocols: membership, assignments, descriptions and deletion."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    blob,
    boolean,
    int8,
    int16,
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
from group_coordinator.codecs.fields import NOT_ASKED_FOR
from group_coordinator.codecs.wire.schemas.api import api

_TOPIC_PARTITIONS = (uuid("topicId"), int32s("partitions"))
_ASSIGNMENT = (
    structs("topicPartitions")[uuid("topicId"), string("topicName"), int32s("partitions")],
)
_KEY_VALUE = (string("key"), string("value"))
_TOPIC_INFO = (
    string("name"),
    int32("partitions"),
    int16("replicationFactor"),
    structs("topicConfigs")[*_KEY_VALUE],
)
_NODE = (
    string("name"),
    int8("nodeType"),
    strings("sourceTopics"),
    string("sinkTopic", nullable=True, default=None),
    strings("stores"),
    strings("successors"),
)
_TASK_IDS = (string("subtopologyId"), int32s("partitions"))
_TASK_OFFSET = (string("subtopologyId"), int32("partition"), int64("offset"))
_TASKS = (
    structs("activeTasks")[*_TASK_IDS],
    structs("standbyTasks")[*_TASK_IDS],
    structs("warmupTasks")[*_TASK_IDS],
)
_DESCRIBED = (
    int16("errorCode"),
    string("errorMessage", nullable=True, default=None),
    string("groupId"),
    string("groupState"),
    int32("groupEpoch"),
    int32("assignmentEpoch"),
)
"""The first fields of a described group, except of a classic group."""

APIS = (
    api("JoinGroup", 11, versions=(0, 9), flexible_since=6).with_messages(
        request=[
            string("groupId"),
            int32("sessionTimeoutMs"),
            int32("rebalanceTimeoutMs", since=1, default=-1),
            string("memberId"),
            string("groupInstanceId", since=5, nullable=True, default=None),
            string("protocolType"),
            structs("protocols")[string("name"), blob("metadata")],
            string("reason", since=8, nullable=True, default=None),
        ],
        response=[
            int32("throttleTimeMs", since=2),
            int16("errorCode"),
            int32("generationId", default=-1),
            string("protocolType", since=7, nullable=True, default=None),
            string("protocolName", nullable_since=7),
            string("leader"),
            boolean("skipAssignment", since=9),
            string("memberId"),
            structs("members")[
                string("memberId"),
                string("groupInstanceId", since=5, nullable=True, default=None),
                blob("metadata"),
            ],
        ],
    ),
    api("SyncGroup", 14, versions=(0, 5), flexible_since=4).with_messages(
        request=[
            string("groupId"),
            int32("generationId"),
            string("memberId"),
            string("groupInstanceId", since=3, nullable=True, default=None),
            string("protocolType", since=5, nullable=True, default=None),
            string("protocolName", since=5, nullable=True, default=None),
            structs("assignments")[string("memberId"), blob("assignment")],
        ],
        response=[
            int32("throttleTimeMs", since=1),
            int16("errorCode"),
            string("protocolType", since=5, nullable=True, default=None),
            string("protocolName", since=5, nullable=True, default=None),
            blob("assignment"),
        ],
    ),
    api("Heartbeat", 12, versions=(0, 4), flexible_since=4).with_messages(
        request=[
            string("groupId"),
            int32("generationId"),
            string("memberId"),
            string("groupInstanceId", since=3, nullable=True, default=None),
        ],
        response=[int32("throttleTimeMs", since=1), int16("errorCode")],
    ),
    api("LeaveGroup", 13, versions=(0, 5), flexible_since=4).with_messages(
        request=[
            string("groupId"),
            string("memberId", until=2),
            structs("members", since=3)[
                string("memberId"),
                string("groupInstanceId", nullable=True, default=None),
                string("reason", since=5, nullable=True, default=None),
            ],
        ],
        response=[
            int32("throttleTimeMs", since=1),
            int16("errorCode"),
            structs("members", since=3)[
                string("memberId"), string("groupInstanceId", nullable=True), int16("errorCode")
            ],
        ],
    ),
    api("ListGroups", 16, versions=(0, 5), flexible_since=3).with_messages(
        request=[strings("statesFilter", since=4), strings("typesFilter", since=5)],
        response=[
            int32("throttleTimeMs", since=1),
            int16("errorCode"),
            structs("groups")[
                string("groupId"),
                string("protocolType"),
                string("groupState", since=4),
                string("groupType", since=5),
            ],
        ],
    ),
    api("DescribeGroups", 15, versions=(0, 6), flexible_since=5).with_messages(
        request=[strings("groups"), boolean("includeAuthorizedOperations", since=3)],
        response=[
            int32("throttleTimeMs", since=1),
            structs("groups")[
                int16("errorCode"),
                string("errorMessage", since=6, nullable=True, default=None),
                string("groupId"),
                string("groupState"),
                string("protocolType"),
                string("protocolData"),
                structs("members")[
                    string("memberId"),
                    string("groupInstanceId", since=4, nullable=True, default=None),
                    string("clientId"),
                    string("clientHost"),
                    blob("memberMetadata"),
                    blob("memberAssignment"),
                ],
                int32("authorizedOperations", since=3, default=NOT_ASKED_FOR),
            ],
        ],
    ),
    api("DeleteGroups", 42, versions=(0, 3), flexible_since=2).with_messages(
        request=[strings("groupsNames")],
        response=[
            int32("throttleTimeMs"),
            structs("results")[
                string("groupId"),
                int16("errorCode"),
                string("errorMessage", since=3, nullable=True, default=None),
            ],
        ],
    ),
    api("ConsumerGroupHeartbeat", 68, versions=(0, 1), flexible_since=0).with_messages(
        request=[
            string("groupId"),
            string("memberId"),
            int32("memberEpoch"),
            string("instanceId", nullable=True, default=None),
            string("rackId", nullable=True, default=None),
            int32("rebalanceTimeoutMs", default=-1),
            strings("subscribedTopicNames", nullable=True, default=None),
            string("subscribedTopicRegex", since=1, nullable=True, default=None),
            string("serverAssignor", nullable=True, default=None),
            structs("topicPartitions", nullable=True, default=None)[*_TOPIC_PARTITIONS],
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode"),
            string("errorMessage", nullable=True, default=None),
            string("memberId", nullable=True, default=None),
            int32("memberEpoch"),
            int32("heartbeatIntervalMs"),
            struct("assignment", nullable=True, default=None)[
                structs("topicPartitions")[*_TOPIC_PARTITIONS]
            ],
        ],
    ),
    api("ConsumerGroupDescribe", 69, versions=(0, 1), flexible_since=0).with_messages(
        request=[strings("groupIds"), boolean("includeAuthorizedOperations")],
        response=[
            int32("throttleTimeMs"),
            structs("groups")[
                *_DESCRIBED,
                string("assignorName"),
                structs("members")[
                    string("memberId"),
                    string("instanceId", nullable=True, default=None),
                    string("rackId", nullable=True, default=None),
                    int32("memberEpoch"),
                    string("clientId"),
                    string("clientHost"),
                    strings("subscribedTopicNames"),
                    string("subscribedTopicRegex", nullable=True, default=None),
                    struct("assignment")[*_ASSIGNMENT],
                    struct("targetAssignment")[*_ASSIGNMENT],
                    int8("memberType", since=1, default=-1),
                ],
                int32("authorizedOperations", default=NOT_ASKED_FOR),
            ],
        ],
    ),
    api("ShareGroupDescribe", 77, versions=(1, 1), flexible_since=0).with_messages(
        request=[strings("groupIds"), boolean("includeAuthorizedOperations")],
        response=[
            int32("throttleTimeMs"),
            structs("groups")[
                *_DESCRIBED,
                string("assignorName"),
                structs("members")[
                    string("memberId"),
                    string("rackId", nullable=True, default=None),
                    int32("memberEpoch"),
                    string("clientId"),
                    string("clientHost"),
                    strings("subscribedTopicNames"),
                    struct("assignment")[*_ASSIGNMENT],
                ],
                int32("authorizedOperations", default=NOT_ASKED_FOR),
            ],
        ],
    ),
    api("StreamsGroupDescribe", 89, versions=(0, 1), flexible_since=0).with_messages(
        request=[
            strings("groupIds"),
            boolean("includeAuthorizedOperations"),
            boolean("includeTopologyDescription", since=1),
        ],
        response=[
            int32("throttleTimeMs"),
            structs("groups")[
                *_DESCRIBED,
                struct("topology", nullable=True, default=None)[
                    int32("epoch"),
                    structs("subtopologies", nullable=True, default=None)[
                        string("subtopologyId"),
                        strings("sourceTopics"),
                        strings("repartitionSinkTopics"),
                        structs("stateChangelogTopics")[*_TOPIC_INFO],
                        structs("repartitionSourceTopics")[*_TOPIC_INFO],
                    ],
                ],
                structs("members")[
                    string("memberId"),
                    int32("memberEpoch"),
                    string("instanceId", nullable=True, default=None),
                    string("rackId", nullable=True, default=None),
                    string("clientId"),
                    string("clientHost"),
                    int32("topologyEpoch"),
                    string("processId"),
                    struct("userEndpoint", nullable=True, default=None)[
                        string("host"), uint16("port")
                    ],
                    structs("clientTags")[*_KEY_VALUE],
                    structs("taskOffsets")[*_TASK_OFFSET],
                    structs("taskEndOffsets")[*_TASK_OFFSET],
                    struct("assignment")[*_TASKS],
                    struct("targetAssignment")[*_TASKS],
                    boolean("isClassic"),
                ],
                int32("authorizedOperations", default=NOT_ASKED_FOR),
                struct("topologyDescription", since=1, nullable=True, default=None)[
                    structs("subtopologies")[string("subtopologyId"), structs("nodes")[*_NODE]],
                    structs("globalStores")[struct("source")[*_NODE], struct("processor")[*_NODE]],
                ],
                int8("topologyDescriptionStatus", since=1),
                string("assignorName", since=1, nullable=True, default=None),
            ],
        ],
    ),
    api("FindCoordinator", 10, versions=(0, 6), flexible_since=3).with_messages(
        request=[
            string("key", until=3),
            int8("keyType", since=1),
            strings("coordinatorKeys", since=4),
        ],
        response=[
            int32("throttleTimeMs", since=1),
            int16("errorCode", until=3),
            string("errorMessage", since=1, until=3, nullable=True),
            int32("nodeId", until=3),
            string("host", until=3),
            int32("port", until=3),
            structs("coordinators", since=4)[
                string("key"),
                int32("nodeId"),
                string("host"),
                int32("port"),
                int16("errorCode"),
                string("errorMessage", nullable=True),
            ],
        ],
    ),
)
