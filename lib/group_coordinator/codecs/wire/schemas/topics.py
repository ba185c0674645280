"""APIs of topics, their partitions and replicas; configs and quotas."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    boolean,
    float64,
    int8,
    int8s,
    int16,
    int32,
    int32s,
    string,
    strings,
    struct,
    structs,
    uuid,
)
from group_coordinator.codecs.fields import NOT_ASKED_FOR
from group_coordinator.codecs.wire.schemas.api import api

_ALTERED = (
    int32("throttleTimeMs"),
    structs("responses")[
        int16("errorCode"),
        string("errorMessage", nullable=True),
        int8("resourceType"),
        string("resourceName"),
    ],
)

APIS = (
    api("Metadata", 3, versions=(0, 13), flexible_since=9).with_messages(
        request=[
            structs("topics", nullable_since=1)[
                uuid("topicId", since=10), string("name", nullable_since=10)
            ],
            boolean("allowAutoTopicCreation", since=4, default=True),
            boolean("includeClusterAuthorizedOperations", since=8, until=10),
            boolean("includeTopicAuthorizedOperations", since=8),
        ],
        response=[
            int32("throttleTimeMs", since=3),
            structs("brokers")[
                int32("nodeId"),
                string("host"),
                int32("port"),
                string("rack", since=1, nullable=True, default=None),
            ],
            string("clusterId", since=2, nullable=True, default=None),
            int32("controllerId", since=1, default=-1),
            structs("topics")[
                int16("errorCode"),
                string("name", nullable_since=12),
                uuid("topicId", since=10),
                boolean("isInternal", since=1),
                structs("partitions")[
                    int16("errorCode"),
                    int32("partitionIndex"),
                    int32("leaderId"),
                    int32("leaderEpoch", since=7, default=-1),
                    int32s("replicaNodes"),
                    int32s("isrNodes"),
                    int32s("offlineReplicas", since=5),
                ],
                int32("topicAuthorizedOperations", since=8, default=NOT_ASKED_FOR),
            ],
            int32("clusterAuthorizedOperations", since=8, until=10, default=NOT_ASKED_FOR),
            int16("errorCode", since=13),
        ],
    ),
    api("DescribeTopicPartitions", 75, versions=(0, 0), flexible_since=0).with_messages(
        request=[
            structs("topics")[string("name")],
            int32("responsePartitionLimit", default=2_000),
            struct("cursor", nullable=True, default=None)[
                string("topicName"), int32("partitionIndex")
            ],
        ],
        response=[
            int32("throttleTimeMs"),
            structs("topics")[
                int16("errorCode"),
                string("name", nullable=True),
                uuid("topicId"),
                boolean("isInternal"),
                structs("partitions")[
                    int16("errorCode"),
                    int32("partitionIndex"),
                    int32("leaderId"),
                    int32("leaderEpoch", default=-1),
                    int32s("replicaNodes"),
                    int32s("isrNodes"),
                    int32s("eligibleLeaderReplicas", nullable=True, default=None),
                    int32s("lastKnownElr", nullable=True, default=None),
                    int32s("offlineReplicas"),
                ],
                int32("topicAuthorizedOperations", default=NOT_ASKED_FOR),
            ],
            struct("nextCursor", nullable=True, default=None)[
                string("topicName"), int32("partitionIndex")
            ],
        ],
    ),
    api("CreateTopics", 19, versions=(2, 7), flexible_since=5).with_messages(
        request=[
            structs("topics")[
                string("name"),
                int32("numPartitions"),
                int16("replicationFactor"),
                structs("assignments")[int32("partitionIndex"), int32s("brokerIds")],
                structs("configs")[string("name"), string("value", nullable=True)],
            ],
            int32("timeoutMs", default=60_000),
            boolean("validateOnly"),
        ],
        response=[
            int32("throttleTimeMs"),
            structs("topics")[
                string("name"),
                uuid("topicId", since=7),
                int16("errorCode"),
                string("errorMessage", nullable=True),
                int16("topicConfigErrorCode", since=5, tag=0),
                int32("numPartitions", since=5, default=-1),
                int16("replicationFactor", since=5, default=-1),
                structs("configs", since=5, nullable=True)[
                    string("name"),
                    string("value", nullable=True),
                    boolean("readOnly"),
                    int8("configSource", default=-1),
                    boolean("isSensitive"),
                ],
            ],
        ],
    ),
    api("DeleteTopics", 20, versions=(1, 6), flexible_since=4).with_messages(
        request=[
            structs("topics", since=6)[
                string("name", nullable=True, default=None), uuid("topicId")
            ],
            strings("topicNames", until=5),
            int32("timeoutMs"),
        ],
        response=[
            int32("throttleTimeMs"),
            structs("responses")[
                string("name", nullable_since=6),
                uuid("topicId", since=6),
                int16("errorCode"),
                string("errorMessage", since=5, nullable=True, default=None),
            ],
        ],
    ),
    api("CreatePartitions", 37, versions=(0, 3), flexible_since=2).with_messages(
        request=[
            structs("topics")[
                string("name"),
                int32("count"),
                structs("assignments", nullable=True)[int32s("brokerIds")],
            ],
            int32("timeoutMs"),
            boolean("validateOnly"),
        ],
        response=[
            int32("throttleTimeMs"),
            structs("results")[
                string("name"),
                int16("errorCode"),
                string("errorMessage", nullable=True, default=None),
            ],
        ],
    ),
    api("ElectLeaders", 43, versions=(0, 2), flexible_since=2).with_messages(
        request=[
            int8("electionType", since=1),
            structs("topicPartitions", nullable=True)[string("topic"), int32s("partitions")],
            int32("timeoutMs", default=60_000),
        ]
    ),
    api("AlterPartitionReassignments", 45, versions=(0, 1), flexible_since=0).with_messages(
        request=[
            int32("timeoutMs", default=60_000),
            boolean("allowReplicationFactorChange", since=1, default=True),
            structs("topics")[
                string("name"),
                structs("partitions")[
                    int32("partitionIndex"), int32s("replicas", nullable=True, default=None)
                ],
            ],
        ]
    ),
    api("ListPartitionReassignments", 46, versions=(0, 0), flexible_since=0).with_messages(
        request=[
            int32("timeoutMs", default=60_000),
            structs("topics", nullable=True, default=None)[
                string("name"), int32s("partitionIndexes")
            ],
        ]
    ),
    api("AlterReplicaLogDirs", 34, versions=(1, 2), flexible_since=2).with_messages(
        request=[
            structs("dirs")[string("path"), structs("topics")[string("name"), int32s("partitions")]]
        ]
    ),
    api("DescribeLogDirs", 35, versions=(1, 5), flexible_since=2).with_messages(
        request=[structs("topics", nullable=True)[string("topic"), int32s("partitions")]]
    ),
    api("DescribeConfigs", 32, versions=(1, 4), flexible_since=4).with_messages(
        request=[
            structs("resources")[
                int8("resourceType"),
                string("resourceName"),
                strings("configurationKeys", nullable=True),
            ],
            boolean("includeSynonyms"),
            boolean("includeDocumentation", since=3),
        ],
        response=[
            int32("throttleTimeMs"),
            structs("results")[
                int16("errorCode"),
                string("errorMessage", nullable=True),
                int8("resourceType"),
                string("resourceName"),
                structs("configs")[
                    string("name"),
                    string("value", nullable=True),
                    boolean("readOnly"),
                    int8("configSource", default=-1),
                    boolean("isSensitive"),
                    structs("synonyms")[
                        string("name"), string("value", nullable=True), int8("source")
                    ],
                    int8("configType", since=3),
                    string("documentation", since=3, nullable=True),
                ],
            ],
        ],
    ),
    api("AlterConfigs", 33, versions=(0, 2), flexible_since=2).with_messages(
        request=[
            structs("resources")[
                int8("resourceType"),
                string("resourceName"),
                structs("configs")[string("name"), string("value", nullable=True)],
            ],
            boolean("validateOnly"),
        ],
        response=[*_ALTERED],
    ),
    api("IncrementalAlterConfigs", 44, versions=(0, 1), flexible_since=1).with_messages(
        request=[
            structs("resources")[
                int8("resourceType"),
                string("resourceName"),
                structs("configs")[
                    string("name"), int8("configOperation"), string("value", nullable=True)
                ],
            ],
            boolean("validateOnly"),
        ],
        response=[*_ALTERED],
    ),
    api("ListConfigResources", 74, versions=(0, 1), flexible_since=0).with_messages(
        request=[int8s("resourceTypes", since=1)],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode"),
            structs("configResources")[
                string("resourceName"), int8("resourceType", since=1, default=16)
            ],
        ],
    ),
    api("DescribeClientQuotas", 48, versions=(0, 1), flexible_since=1).with_messages(
        request=[
            structs("components")[
                string("entityType"), int8("matchType"), string("match", nullable=True)
            ],
            boolean("strict"),
        ]
    ),
    api("AlterClientQuotas", 49, versions=(0, 1), flexible_since=1).with_messages(
        request=[
            structs("entries")[
                structs("entity")[string("entityType"), string("entityName", nullable=True)],
                structs("ops")[string("key"), float64("value"), boolean("remove")],
            ],
            boolean("validateOnly"),
        ]
    ),
)
