from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.codecs import events, responses
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    EndTxn,
    PartitionCommit,
    TopicCommit,
    TxnOffsetCommit,
)
from group_coordinator.core.model.responses import (
    EndTxnResponse,
    PartitionResult,
    Reply,
    TopicResult,
    TxnOffsetCommitResponse,
)
from group_coordinator.core.model.ticket import Ticket

PARTITION = {"partitionIndex": 3, "committedOffset": 42, "committedLeaderEpoch": 5}
BODY = {
    "transactionalId": "t",
    "groupId": "g",
    "producerId": 17,
    "producerEpoch": 1,
    "topics": [{"name": "orders", "partitions": [PARTITION | {"committedMetadata": "note"}]}],
}
MEMBER = {"generationId": 4, "memberId": "m", "groupInstanceId": "i"}


def decoded(api: str, version: int, body: dict[str, Any]) -> object:
    return events.decode(
        json.dumps({"api": api, "version": version, "body": body}).encode()
    ).request


@pytest.mark.parametrize(("version", "leader_epoch"), [(0, None), (1, None), (2, 5)])
def test_old_versions_name_no_member(version: int, leader_epoch: int | None) -> None:
    partition = PartitionCommit(3, 42, leader_epoch, "note", None)
    assert decoded("TxnOffsetCommit", version, BODY) == TxnOffsetCommit(
        "g", 17, None, "", None, (TopicCommit("orders", None, (partition,)),)
    )


@pytest.mark.parametrize("version", [3, 4, 5])
def test_new_versions_may_name_one(version: int) -> None:
    partition = PartitionCommit(3, 42, 5, "note", None)
    assert decoded("TxnOffsetCommit", version, BODY | MEMBER) == TxnOffsetCommit(
        "g", 17, 4, "m", "i", (TopicCommit("orders", None, (partition,)),)
    )


@pytest.mark.parametrize("field", MEMBER)
def test_a_version_that_knows_no_member_refuses_one(field: str) -> None:
    with pytest.raises(InvalidEventError, match=f"body.{field}: version 2 has no such field"):
        decoded("TxnOffsetCommit", 2, BODY | {field: MEMBER[field]})


def test_a_marker() -> None:
    body = {"groupId": "g", "producerId": 17, "producerEpoch": 1, "committed": False}
    assert decoded("EndTxn", 0, body) == EndTxn("g", 17, is_commit=False)


@pytest.mark.parametrize("field", ["groupId", "producerId", "committed"])
def test_a_marker_says_whom_it_is_about(field: str) -> None:
    body = {"groupId": "g", "producerId": 17, "committed": True}
    del body[field]
    with pytest.raises(InvalidEventError, match=f"missing required field `{field}`"):
        decoded("EndTxn", 0, body)


@pytest.mark.parametrize("version", range(6))
def test_the_answer_to_a_commit(version: int) -> None:
    result = TopicResult("orders", None, (PartitionResult(3, ErrorCode.ILLEGAL_GENERATION),))
    reply = Reply(Ticket("e", "c", version), TxnOffsetCommitResponse((result,)))

    assert responses.to_json("g", reply, 1_000)["body"] == {
        "throttleTimeMs": 0,
        "topics": [{"name": "orders", "partitions": [{"partitionIndex": 3, "errorCode": 22}]}],
    }


def test_the_answer_to_a_marker() -> None:
    reply = Reply(Ticket("e", "c", 0), EndTxnResponse(ErrorCode.NONE))

    assert responses.to_json("g", reply, 1_000)["body"] == {"throttleTimeMs": 0, "errorCode": 0}


ID = "4ksO1bcLSgCStYJnTlCVLg"
OTHER_ID = "kR2Wz3XqTl6mQ0v9s8bEuA"


@pytest.mark.parametrize(
    ("topics", "complaint"),
    [
        ([("orders", ID, 1), ("orders", OTHER_ID, 1)], "topics.name = orders: is there twice"),
        ([("orders", ID, 1), ("clicks", ID, 1)], f"topics.topicId = {ID}: is there twice"),
        ([("orders", "A" * 22, 1)], "topics.topicId = A{22}: stands for no topic"),
        ([("orders", ID, 0)], r"topics\[0\].numPartitions = 0"),
        ([("orders", ID, 1_000_001)], r"topics.numPartitions = 1000001 together"),
        ([("orders", ID + "\n", 1)], r"topics\[0\].topicId = "),
    ],
)
def test_topics_that_cannot_be(topics: list[tuple[str, str, int]], complaint: str) -> None:
    given = [dict(zip(("name", "topicId", "numPartitions"), t, strict=True)) for t in topics]
    with pytest.raises(InvalidEventError, match=complaint):
        decoded("TopicMetadata", 0, {"groupId": "g", "topics": given})


def test_the_most_partitions_of_a_topic() -> None:
    given = [{"name": "orders", "topicId": ID, "numPartitions": 1_000_000}]

    decoded("TopicMetadata", 0, {"groupId": "g", "topics": given})


def test_a_number_too_long_for_anybody_hides_nobody() -> None:
    """Who asks is told, although the rest cannot be read."""
    digits = "9" * 5_000
    value = f'{{"api": "Heartbeat", "version": 4, "correlationId": "c", "body": {{"a": {digits}}}}}'

    with pytest.raises(InvalidEventError) as refused:
        events.decode(value.encode())
    assert refused.value.correlation_id == "c"
