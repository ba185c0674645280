from __future__ import annotations

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import PartitionCommit, TopicCommit, TxnOffsetCommit
from group_coordinator.core.model.responses import (
    PartitionResult,
    TopicResult,
    TxnOffsetCommitResponse,
)
from tests.unit.codecs.apis.messages import read, written_fields

PARTITION = {"partitionIndex": 3, "committedOffset": 42, "committedLeaderEpoch": 5}
BODY = {
    "transactionalId": "t",
    "groupId": "g",
    "producerId": 17,
    "producerEpoch": 1,
    "topics": [{"name": "orders", "partitions": [PARTITION | {"committedMetadata": "note"}]}],
}
MEMBER = {"generationId": 4, "memberId": "m", "groupInstanceId": "i"}


@pytest.mark.parametrize(("version", "leader_epoch"), [(0, None), (1, None), (2, 5)])
def test_old_versions_name_no_member(version: int, leader_epoch: int | None) -> None:
    partition = PartitionCommit(3, 42, leader_epoch, "note", None)
    assert read("TxnOffsetCommit", version, BODY) == TxnOffsetCommit(
        "g", 17, None, "", None, (TopicCommit("orders", None, (partition,)),)
    )


@pytest.mark.parametrize("version", [3, 4, 5])
def test_new_versions_may_name_one(version: int) -> None:
    partition = PartitionCommit(3, 42, 5, "note", None)
    assert read("TxnOffsetCommit", version, BODY | MEMBER) == TxnOffsetCommit(
        "g", 17, 4, "m", "i", (TopicCommit("orders", None, (partition,)),)
    )


@pytest.mark.parametrize("field", MEMBER)
def test_a_version_that_knows_no_member_refuses_one(field: str) -> None:
    with pytest.raises(InvalidEventError, match=f"body.{field}: version 2 has no such field"):
        read("TxnOffsetCommit", 2, BODY | {field: MEMBER[field]})


@pytest.mark.parametrize("version", range(6))
def test_each_partition_has_its_error(version: int) -> None:
    result = TopicResult("orders", None, (PartitionResult(3, ErrorCode.ILLEGAL_GENERATION),))

    assert written_fields(TxnOffsetCommitResponse((result,)), version) == {
        "throttleTimeMs": 0,
        "topics": [{"name": "orders", "partitions": [{"partitionIndex": 3, "errorCode": 22}]}],
    }
