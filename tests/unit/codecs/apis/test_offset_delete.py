from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import OffsetDelete, TopicPartitions
from group_coordinator.core.model.responses import (
    OffsetDeleteResponse,
    PartitionResult,
    TopicResult,
)
from tests.unit.codecs.apis.messages import read, written


def test_the_partitions_to_forget() -> None:
    body = {"groupId": "g", "topics": [{"name": "orders", "partitions": [{"partitionIndex": 3}]}]}

    topics = (TopicPartitions("orders", None, (3,)),)
    assert read("OffsetDelete", 0, body) == OffsetDelete("g", topics)


def test_each_partition_has_its_error() -> None:
    results = (
        PartitionResult(0, ErrorCode.NONE),
        PartitionResult(1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    )
    response = OffsetDeleteResponse(ErrorCode.NONE, (TopicResult("orders", None, results),))

    assert written(response, 0) == (
        '{"errorCode":0,"throttleTimeMs":0,"topics":[{"name":"orders","partitions":['
        '{"partitionIndex":0,"errorCode":0},{"partitionIndex":1,"errorCode":3}]}]}'
    )
    assert written(OffsetDeleteResponse(ErrorCode.NON_EMPTY_GROUP), 0) == (
        '{"errorCode":68,"throttleTimeMs":0,"topics":[]}'
    )
