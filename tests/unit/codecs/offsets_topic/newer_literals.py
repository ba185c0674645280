"""Messages of share and streams groups, written by Kafka 4.4.0's own classes, and the JSON that Kafka prints."""

from __future__ import annotations

from tests.unit.codecs.offsets_topic.literals import OF_GROUP, OF_MEMBER, ORDERS_ID, Literal

NEWER_LITERALS = {
    "a share group's member": Literal(
        10,
        "000a00016700016d",
        OF_MEMBER,
        "0000000263032f6802076f726465727300",
        0,
        {"rackId": None, "clientId": "c", "clientHost": "/h", "subscribedTopicNames": ["orders"]},
    ),
    "a share group's epoch": Literal(
        11,
        "000b000167",
        OF_GROUP,
        "000000000005000000000000000000",
        0,
        {"epoch": 5, "metadataHash": 0},
    ),
    "a share group's target epoch": Literal(
        12,
        "000c000167",
        OF_GROUP,
        "00000000000401000800000000000003e8",
        0,
        {"assignmentEpoch": 4, "assignmentTimestamp": 1000},
    ),
    "a share group's target": Literal(
        13,
        "000d00016700016d",
        OF_MEMBER,
        "000002e24b0ed5b70b4a0092b582674e50952e0300000000000000020000",
        0,
        {"topicPartitions": [{"topicId": ORDERS_ID, "partitions": [0, 2]}]},
    ),
    "a share group's assignment": Literal(
        14,
        "000e00016700016d",
        OF_MEMBER,
        "000000000004000000030002e24b0ed5b70b4a0092b582674e50952e0300000000000000020000",
        0,
        {
            "memberEpoch": 4,
            "previousMemberEpoch": 3,
            "state": 0,
            "assignedPartitions": [{"topicId": ORDERS_ID, "partitions": [0, 2]}],
        },
    ),
    "a share group's topics": Literal(
        15,
        "000f000167",
        OF_GROUP,
        (
            "000002e24b0ed5b70b4a0092b582674e50952e076f726465727302000000000001020000000000000000"
            "0000000000000000047061790000"
        ),
        0,
        {
            "initializingTopics": [
                {"topicId": ORDERS_ID, "topicName": "orders", "partitions": [0]}
            ],
            "initializedTopics": [],
            "deletingTopics": [{"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "topicName": "pay"}],
        },
    ),
    "a streams group's epoch": Literal(
        17,
        "0011000167",
        OF_GROUP,
        "000000000005000000000000000700",
        0,
        {"epoch": 5, "metadataHash": 7},
    ),
    "a streams group's epoch and all that is tagged": Literal(
        17,
        "0011000167",
        OF_GROUP,
        (
            "000000000005000000000000000704000400000001011902156e756d2e7374616e6462792e7265706c69"
            "6361730231000204fffffffe030400000000"
        ),
        0,
        {
            "epoch": 5,
            "metadataHash": 7,
            "validatedTopologyEpoch": 1,
            "lastAssignmentConfigs": [{"key": "num.standby.replicas", "value": "1"}],
            "storedDescriptionTopologyEpoch": -2,
            "failedDescriptionTopologyEpoch": 0,
        },
    ),
    "a streams group's epoch without its last configuration": Literal(
        17,
        "0011000167",
        OF_GROUP,
        "000000000005000000000000000701010100",
        0,
        {"epoch": 5, "metadataHash": 7, "lastAssignmentConfigs": None},
    ),
    "a streams group's member": Literal(
        19,
        "001300016700016d",
        OF_MEMBER,
        "00000002720263032f68000003e8000000010270010268ffff0002057a6f6e6502610000",
        0,
        {
            "instanceId": None,
            "rackId": "r",
            "clientId": "c",
            "clientHost": "/h",
            "rebalanceTimeoutMs": 1000,
            "topologyEpoch": 1,
            "processId": "p",
            "userEndpoint": {"host": "h", "port": 65535},
            "clientTags": [{"key": "zone", "value": "a"}],
        },
    ),
    "a streams group's member without an endpoint": Literal(
        19,
        "001300016700016d",
        OF_MEMBER,
        "00000269000263032f68ffffffff000000000270ff0100",
        0,
        {
            "instanceId": "i",
            "rackId": None,
            "clientId": "c",
            "clientHost": "/h",
            "rebalanceTimeoutMs": -1,
            "topologyEpoch": 0,
            "processId": "p",
            "userEndpoint": None,
            "clientTags": [],
        },
    ),
    "a streams group's target epoch": Literal(
        20, "0014000167", OF_GROUP, "00000000000400", 0, {"assignmentEpoch": 4}
    ),
    "a streams group's target": Literal(
        21,
        "001500016700016d",
        OF_MEMBER,
        "00000202300300000000000000010001020230010000",
        0,
        {
            "activeTasks": [{"subtopologyId": "0", "partitions": [0, 1]}],
            "standbyTasks": [],
            "warmupTasks": [{"subtopologyId": "0", "partitions": []}],
        },
    ),
    "a streams group's assignment": Literal(
        22,
        "001600016700016d",
        OF_MEMBER,
        (
            "000000000004000000030202023003000000000000000101000903000000030000000402023002000000"
            "020100010001020230020000000300010100"
        ),
        0,
        {
            "memberEpoch": 4,
            "previousMemberEpoch": 3,
            "state": 2,
            "activeTasks": [
                {"subtopologyId": "0", "partitions": [0, 1], "assignmentEpochs": [3, 4]}
            ],
            "standbyTasks": [{"subtopologyId": "0", "partitions": [2], "assignmentEpochs": None}],
            "warmupTasks": [],
            "activeTasksPendingRevocation": [{"subtopologyId": "0", "partitions": [3]}],
            "standbyTasksPendingRevocation": [],
            "warmupTasksPendingRevocation": [],
        },
    ),
    "a streams group's topology": Literal(
        23,
        "0017000167",
        OF_GROUP,
        (
            "00000000000102023002076f726465727302046f2e2a020673746f726500000000ffff020f636c65616e"
            "75702e706f6c69637908636f6d706163740000020573696e6b0207736f75726365000000040000010002"
            "02000002ffff01000000"
        ),
        0,
        {
            "epoch": 1,
            "subtopologies": [
                {
                    "subtopologyId": "0",
                    "sourceTopics": ["orders"],
                    "sourceTopicRegex": ["o.*"],
                    "stateChangelogTopics": [
                        {
                            "name": "store",
                            "partitions": 0,
                            "replicationFactor": -1,
                            "topicConfigs": [{"key": "cleanup.policy", "value": "compact"}],
                        }
                    ],
                    "repartitionSinkTopics": ["sink"],
                    "repartitionSourceTopics": [
                        {
                            "name": "source",
                            "partitions": 4,
                            "replicationFactor": 0,
                            "topicConfigs": [],
                        }
                    ],
                    "copartitionGroups": [
                        {
                            "sourceTopics": [0],
                            "sourceTopicRegex": [-1],
                            "repartitionSourceTopics": [],
                        }
                    ],
                }
            ],
        },
    ),
}
