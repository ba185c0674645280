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

ORDERS = "AAAAAAAAAAAAAAAAAAAAAQ"
PARTITION = {"partitionIndex": 3, "committedOffset": 42, "committedLeaderEpoch": 5}
BODY = {
    "transactionalId": "t",
    "groupId": "g",
    "producerId": 17,
    "producerEpoch": 1,
    "topics": [{"name": "orders", "partitions": [PARTITION | {"committedMetadata": "note"}]}],
}
BODY_BY_ID = BODY | {"topics": [{"topicId": ORDERS, "partitions": [PARTITION]}]}
MEMBER = {"generationIdOrMemberEpoch": 4, "memberId": "m", "groupInstanceId": "i"}
OF_MEMBER = TxnOffsetCommit(
    group_id="g",
    producer_id=17,
    generation=4,
    member_id="m",
    group_instance_id="i",
    topics=(TopicCommit("orders", None, (PartitionCommit(3, 42, 5, "note", None),)),),
    producer_epoch=1,
    markers_end_offset=None,
    transactional_id="t",
)


@pytest.mark.parametrize(("version", "leader_epoch"), [(0, None), (1, None), (2, 5)])
def test_old_versions_name_no_member(version: int, leader_epoch: int | None) -> None:
    partition = PartitionCommit(3, 42, leader_epoch, "note", None)
    assert read("TxnOffsetCommit", version, BODY) == OF_MEMBER.replace(
        generation=None,
        member_id="",
        group_instance_id=None,
        topics=(TopicCommit("orders", None, (partition,)),),
    )


@pytest.mark.parametrize("version", [3, 4, 5])
def test_new_versions_may_name_one(version: int) -> None:
    assert read("TxnOffsetCommit", version, BODY | MEMBER) == OF_MEMBER


def test_the_newest_version_goes_by_topic_id() -> None:
    topics = (TopicCommit(None, ORDERS, (PartitionCommit(3, 42, 5, "", None),)),)
    assert read("TxnOffsetCommit", 6, BODY_BY_ID | MEMBER) == OF_MEMBER.replace(topics=topics)


def test_a_commit_may_say_where_the_markers_ended() -> None:
    said = read("TxnOffsetCommit", 3, BODY | {"markersEndOffset": 2**63 - 1})
    assert said.markers_end_offset == 2**63 - 1
    assert read("TxnOffsetCommit", 3, BODY | {"markersEndOffset": None}).markers_end_offset is None
    for wrong in (-1, "7"):
        with pytest.raises(InvalidEventError, match=r"body\.markersEndOffset"):
            read("TxnOffsetCommit", 3, BODY | {"markersEndOffset": wrong})


@pytest.mark.parametrize(("said", "producer_id"), [({}, 0), ({"producerId": -1}, None)])
def test_a_commit_may_have_no_producer(said: dict[str, int], producer_id: int | None) -> None:
    assert read("TxnOffsetCommit", 3, said).producer_id == producer_id


@pytest.mark.parametrize(("said", "epoch"), [({}, None), ({"producerEpoch": -1}, -1)])
def test_a_producer_without_epoch_is_not_one_that_names_none(
    said: dict[str, int], epoch: int | None
) -> None:
    assert read("TxnOffsetCommit", 3, said).producer_epoch == epoch


@pytest.mark.parametrize(("version", "name", "topic_id"), [(5, "orders", None), (6, None, ORDERS)])
def test_of_name_and_id_only_the_one_of_the_version_counts(
    version: int, name: str | None, topic_id: str | None
) -> None:
    topics = [{"name": "orders", "topicId": ORDERS, "partitions": []}]

    request = read("TxnOffsetCommit", version, BODY | {"topics": topics})

    assert request.topics == (TopicCommit(name, topic_id, ()),)


def test_a_topic_without_name_has_to_go_by_id() -> None:
    topics = [{"name": None, "topicId": ORDERS, "partitions": []}]
    assert read("TxnOffsetCommit", 6, BODY | {"topics": topics}).topics[0].topic_id == ORDERS
    with pytest.raises(InvalidEventError, match=r"body\.topics\.name: must not be null"):
        read("TxnOffsetCommit", 5, BODY | {"topics": topics})


@pytest.mark.parametrize(
    "named",
    [
        {"generationId": 4},
        {"generationIdOrMemberEpoch": 4},
        {"generationId": 4, "generationIdOrMemberEpoch": 4},
    ],
)
@pytest.mark.parametrize("version", [3, 6])
def test_the_generation_has_two_names(version: int, named: dict[str, int]) -> None:
    """Kafka 4.4 gave the field another one; events in the topic may have the old one."""
    assert read("TxnOffsetCommit", version, BODY_BY_ID | named).generation == 4


def test_two_generations_are_one_too_many() -> None:
    two = {"generationId": 4, "generationIdOrMemberEpoch": 5}
    why = "body.generationId = 4: must not differ from generationIdOrMemberEpoch, which is 5"
    with pytest.raises(InvalidEventError, match=why):
        read("TxnOffsetCommit", 6, BODY_BY_ID | two)


@pytest.mark.parametrize(("field", "value"), [*MEMBER.items(), ("generationId", 4)])
def test_a_version_that_knows_no_member_refuses_one(field: str, value: object) -> None:
    with pytest.raises(InvalidEventError, match=f"body.{field} = .*: version 2 has no such field"):
        read("TxnOffsetCommit", 2, BODY | {field: value})


@pytest.mark.parametrize("version", range(6))
def test_each_partition_has_its_error(version: int) -> None:
    result = TopicResult("orders", None, (PartitionResult(3, ErrorCode.ILLEGAL_GENERATION),))

    assert written_fields(TxnOffsetCommitResponse((result,)), version) == {
        "throttleTimeMs": 0,
        "topics": [{"name": "orders", "partitions": [{"partitionIndex": 3, "errorCode": 22}]}],
    }


def test_the_newest_version_answers_by_topic_id() -> None:
    result = TopicResult("orders", ORDERS, (PartitionResult(3, ErrorCode.STALE_MEMBER_EPOCH),))

    assert written_fields(TxnOffsetCommitResponse((result,)), 6) == {
        "throttleTimeMs": 0,
        "topics": [{"topicId": ORDERS, "partitions": [{"partitionIndex": 3, "errorCode": 113}]}],
    }
