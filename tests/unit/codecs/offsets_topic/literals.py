"""Messages of offsets, classic and consumer groups, written by Kafka 4.4.0's own classes, and the JSON that Kafka prints."""

from __future__ import annotations

from typing import Any, NamedTuple

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
OF_GROUP = {"groupId": "g"}
OF_MEMBER = {"groupId": "g", "memberId": "m"}
OF_PARTITION = {"group": "g", "topic": "orders", "partition": 2}


class Literal(NamedTuple):
    record_type: int
    key: str
    about: dict[str, Any]
    value: str
    version: int
    says: dict[str, Any]


LITERALS = {
    "a legacy offset": Literal(
        0,
        "000000016700066f726465727300000002",
        OF_PARTITION,
        "0000000000000000002a00046e6f746500000000000003e8",
        0,
        {"offset": 42, "metadata": "note", "commitTimestamp": 1000},
    ),
    "an offset of version 0": Literal(
        1,
        "000100016700066f726465727300000002",
        OF_PARTITION,
        "0000000000000000002a00046e6f746500000000000003e8",
        0,
        {"offset": 42, "metadata": "note", "commitTimestamp": 1000},
    ),
    "an offset of version 1": Literal(
        1,
        "000100016700066f726465727300000002",
        OF_PARTITION,
        "0001000000000000002a00046e6f746500000000000003e80000000000001770",
        1,
        {"offset": 42, "metadata": "note", "commitTimestamp": 1000, "expireTimestamp": 6000},
    ),
    "an offset of version 2": Literal(
        1,
        "000100016700066f726465727300000002",
        OF_PARTITION,
        "0002000000000000002a00046e6f746500000000000003e8",
        2,
        {"offset": 42, "metadata": "note", "commitTimestamp": 1000},
    ),
    "an offset of version 3": Literal(
        1,
        "000100016700066f726465727300000002",
        OF_PARTITION,
        "0003000000000000002a0000000300046e6f746500000000000003e8",
        3,
        {"offset": 42, "metadata": "note", "commitTimestamp": 1000, "leaderEpoch": 3},
    ),
    "an offset of version 4": Literal(
        1,
        "000100016700066f726465727300000002",
        OF_PARTITION,
        (
            "0004000000000000002a00000003056e6f746500000000000003e8010010e24b0ed5b70b4a0092b58267"
            "4e50952e"
        ),
        4,
        {
            "offset": 42,
            "metadata": "note",
            "commitTimestamp": 1000,
            "leaderEpoch": 3,
            "topicId": ORDERS_ID,
        },
    ),
    "an offset of version 4 without a topic id": Literal(
        1,
        "000100016700066f726465727300000002",
        OF_PARTITION,
        "0004000000000000002affffffff056e6f746500000000000003e800",
        4,
        {"offset": 42, "metadata": "note", "commitTimestamp": 1000, "leaderEpoch": -1},
    ),
    "a classic group of version 0": Literal(
        2,
        "0002000167",
        {"group": "g"},
        (
            "00000008636f6e73756d657200000004000572616e6765ffff0000000100016d00016300022f68000027"
            "100000000300010200000000"
        ),
        0,
        {
            "protocolType": "consumer",
            "generation": 4,
            "protocol": "range",
            "leader": None,
            "members": [
                {
                    "memberId": "m",
                    "clientId": "c",
                    "clientHost": "/h",
                    "sessionTimeout": 10000,
                    "subscription": "AAEC",
                    "assignment": "",
                }
            ],
        },
    ),
    "a classic group of version 1": Literal(
        2,
        "0002000167",
        {"group": "g"},
        (
            "00010008636f6e73756d657200000004000572616e6765ffff0000000100016d00016300022f6800004e"
            "20000027100000000300010200000000"
        ),
        1,
        {
            "protocolType": "consumer",
            "generation": 4,
            "protocol": "range",
            "leader": None,
            "members": [
                {
                    "memberId": "m",
                    "clientId": "c",
                    "clientHost": "/h",
                    "rebalanceTimeout": 20000,
                    "sessionTimeout": 10000,
                    "subscription": "AAEC",
                    "assignment": "",
                }
            ],
        },
    ),
    "a classic group of version 2": Literal(
        2,
        "0002000167",
        {"group": "g"},
        (
            "00020008636f6e73756d657200000004000572616e6765ffff00000000000003e80000000100016d0001"
            "6300022f6800004e20000027100000000300010200000000"
        ),
        2,
        {
            "protocolType": "consumer",
            "generation": 4,
            "protocol": "range",
            "leader": None,
            "currentStateTimestamp": 1000,
            "members": [
                {
                    "memberId": "m",
                    "clientId": "c",
                    "clientHost": "/h",
                    "rebalanceTimeout": 20000,
                    "sessionTimeout": 10000,
                    "subscription": "AAEC",
                    "assignment": "",
                }
            ],
        },
    ),
    "a classic group of version 3": Literal(
        2,
        "0002000167",
        {"group": "g"},
        (
            "00030008636f6e73756d657200000004000572616e6765ffff00000000000003e80000000100016d0001"
            "6900016300022f6800004e20000027100000000300010200000000"
        ),
        3,
        {
            "protocolType": "consumer",
            "generation": 4,
            "protocol": "range",
            "leader": None,
            "currentStateTimestamp": 1000,
            "members": [
                {
                    "memberId": "m",
                    "groupInstanceId": "i",
                    "clientId": "c",
                    "clientHost": "/h",
                    "rebalanceTimeout": 20000,
                    "sessionTimeout": 10000,
                    "subscription": "AAEC",
                    "assignment": "",
                }
            ],
        },
    ),
    "a classic group of version 4": Literal(
        2,
        "0002000167",
        {"group": "g"},
        (
            "000409636f6e73756d6572000000040672616e67650000000000000003e802026d02690263032f680000"
            "4e200000271004000102010000"
        ),
        4,
        {
            "protocolType": "consumer",
            "generation": 4,
            "protocol": "range",
            "leader": None,
            "currentStateTimestamp": 1000,
            "members": [
                {
                    "memberId": "m",
                    "groupInstanceId": "i",
                    "clientId": "c",
                    "clientHost": "/h",
                    "rebalanceTimeout": 20000,
                    "sessionTimeout": 10000,
                    "subscription": "AAEC",
                    "assignment": "",
                }
            ],
        },
    ),
    "a consumer group's epoch": Literal(
        3, "0003000167", OF_GROUP, "00000000000500", 0, {"epoch": 5}
    ),
    "a consumer group's epoch and hash": Literal(
        3,
        "0003000167",
        OF_GROUP,
        "0000000000050100088edf6198c2ed80dc",
        0,
        {"epoch": 5, "metadataHash": -8151689491784040228},
    ),
    "what a consumer group knew of topics": Literal(
        4,
        "0004000167",
        OF_GROUP,
        ("000002e24b0ed5b70b4a0092b582674e50952e076f72646572730000000102000000000302610262000000"),
        0,
        {
            "topics": [
                {
                    "topicId": ORDERS_ID,
                    "topicName": "orders",
                    "numPartitions": 1,
                    "partitionMetadata": [{"partition": 0, "racks": ["a", "b"]}],
                }
            ]
        },
    ),
    "a consumer group's member": Literal(
        5,
        "000500016700016d",
        OF_MEMBER,
        "00000269000263032f6803076f72646572730470617901000003e80672616e676501000100",
        0,
        {
            "instanceId": "i",
            "rackId": None,
            "clientId": "c",
            "clientHost": "/h",
            "subscribedTopicNames": ["orders", "pay"],
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": 1000,
            "serverAssignor": "range",
            "classicMemberMetadata": None,
        },
    ),
    "a consumer group's member of the classic protocol": Literal(
        5,
        "000500016700016d",
        OF_MEMBER,
        "00000002720263032f680100ffffffff000100120100002710020672616e6765040001020000",
        0,
        {
            "instanceId": None,
            "rackId": "r",
            "clientId": "c",
            "clientHost": "/h",
            "subscribedTopicNames": [],
            "subscribedTopicRegex": None,
            "rebalanceTimeoutMs": -1,
            "serverAssignor": None,
            "classicMemberMetadata": {
                "sessionTimeoutMs": 10000,
                "supportedProtocols": [{"name": "range", "metadata": "AAEC"}],
            },
        },
    ),
    "a consumer group's target epoch": Literal(
        6,
        "0006000167",
        OF_GROUP,
        "00000000000401000800000000000003e8",
        0,
        {"assignmentEpoch": 4, "assignmentTimestamp": 1000},
    ),
    "a consumer group's target": Literal(
        7,
        "000700016700016d",
        OF_MEMBER,
        "000002e24b0ed5b70b4a0092b582674e50952e0300000000000000020000",
        0,
        {"topicPartitions": [{"topicId": ORDERS_ID, "partitions": [0, 2]}]},
    ),
    "a consumer group's assignment": Literal(
        8,
        "000800016700016d",
        OF_MEMBER,
        (
            "000000000004000000030102e24b0ed5b70b4a0092b582674e50952e0300000000000000020100090300"
            "0000030000000403e24b0ed5b70b4a0092b582674e50952e020000000101000100e24b0ed5b70b4a0092"
            "b582674e50952e010000"
        ),
        0,
        {
            "memberEpoch": 4,
            "previousMemberEpoch": 3,
            "state": 1,
            "assignedPartitions": [
                {"topicId": ORDERS_ID, "partitions": [0, 2], "assignmentEpochs": [3, 4]}
            ],
            "partitionsPendingRevocation": [
                {"topicId": ORDERS_ID, "partitions": [1], "assignmentEpochs": None},
                {"topicId": ORDERS_ID, "partitions": []},
            ],
        },
    ),
    "a consumer group's pattern": Literal(
        16,
        "001000016700036f2e2a",
        {"groupId": "g", "regularExpression": "o.*"},
        "000002076f7264657273000000000000000700000000000003e800",
        0,
        {"topics": ["orders"], "version": 7, "timestamp": 1000},
    ),
}
