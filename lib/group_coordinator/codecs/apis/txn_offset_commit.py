"""TxnOffsetCommit: a producer commits offsets in its transaction."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import (
    ABSENT,
    FieldError,
    Int16,
    Int32,
    Int64,
    JsonObject,
    LogOffset,
    Text,
    Uuid,
    check_unknown,
    number_or_none,
    or_default,
    results_by_id,
    results_by_name,
    topic_name,
    uuid_or_none,
)
from group_coordinator.core.model import requests, responses

_LEADER_EPOCH_SINCE = 2
_MEMBER_SINCE = 3


class TxnCommittedPartition(Body):
    partition_index: Int32 | UnsetType = UNSET
    committed_offset: Int64 | UnsetType = UNSET
    committed_leader_epoch: Int32 | UnsetType = UNSET
    committed_metadata: Text | UnsetType | None = UNSET


class TxnCommittedTopic(Body):
    name: Text | UnsetType | None = UNSET
    topic_id: Uuid | UnsetType = UNSET
    partitions: list[TxnCommittedPartition] | UnsetType = UNSET


class TxnOffsetCommitBody(Body):
    transactional_id: Text | UnsetType = UNSET
    group_id: Text | UnsetType = UNSET
    producer_id: Int64 | UnsetType = UNSET
    producer_epoch: Int16 | UnsetType = UNSET
    generation_id: Int32 | UnsetType = UNSET
    """The name of the next field before Kafka 4.4."""
    generation_id_or_member_epoch: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    topics: list[TxnCommittedTopic] | UnsetType = UNSET
    markers_end_offset: LogOffset | UnsetType | None = UNSET
    """Our own field."""


def _to_request(body: TxnOffsetCommitBody, version: int) -> requests.TxnOffsetCommit:
    member_id = body.member_id or ""
    instance_id = or_default(body.group_instance_id, None)
    if version < _MEMBER_SINCE:
        check_unknown("generationId", body.generation_id, ABSENT, version)
        newer = body.generation_id_or_member_epoch
        check_unknown("generationIdOrMemberEpoch", newer, ABSENT, version)
        check_unknown("memberId", member_id, "", version)
        check_unknown("groupInstanceId", instance_id, None, version)
    return requests.TxnOffsetCommit(
        group_id=body.group_id or "",
        # The default of Kafka's message is 0, not -1.
        producer_id=number_or_none(or_default(body.producer_id, 0)),
        generation=number_or_none(_generation(body)),
        member_id=member_id,
        group_instance_id=instance_id,
        topics=tuple([_topic_commit(topic, version) for topic in body.topics or ()]),
        producer_epoch=or_default(body.producer_epoch, None),
        markers_end_offset=or_default(body.markers_end_offset, None),
        transactional_id=body.transactional_id or "",
    )


def _generation(body: TxnOffsetCommitBody) -> int | UnsetType:
    older, newer = body.generation_id, body.generation_id_or_member_epoch
    if newer is UNSET:
        return older
    # Equal values are fine: a sender may support both names.
    if older not in (UNSET, newer):
        why = f"must not differ from generationIdOrMemberEpoch, which is {newer}"
        raise FieldError(f"generationId = {older}", why)
    return newer


def _topic_commit(topic: TxnCommittedTopic, version: int) -> requests.TopicCommit:
    knows_leader_epoch = version >= _LEADER_EPOCH_SINCE
    partitions = [
        requests.PartitionCommit(
            entry.partition_index or 0,
            entry.committed_offset or 0,
            number_or_none(entry.committed_leader_epoch) if knows_leader_epoch else None,
            or_default(entry.committed_metadata, ""),
            None,
        )
        for entry in topic.partitions or ()
    ]
    if version >= requests.TXN_TOPIC_IDS_SINCE:
        return requests.TopicCommit(None, uuid_or_none(topic.topic_id), tuple(partitions))
    return requests.TopicCommit(topic_name(topic.name), None, tuple(partitions))


def _to_body(response: responses.TxnOffsetCommitResponse, version: int) -> JsonObject:
    results = results_by_id if version >= requests.TXN_TOPIC_IDS_SINCE else results_by_name
    return {"throttleTimeMs": 0, "topics": [results(topic) for topic in response.topics]}


CODEC = codec(
    range(7), TxnOffsetCommitBody, _to_request, responses.TxnOffsetCommitResponse, _to_body
)
