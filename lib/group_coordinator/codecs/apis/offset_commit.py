"""OffsetCommit: a member or an administrator commits offsets."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import (
    ABSENT,
    FieldError,
    Int32,
    Int64,
    JsonObject,
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
from group_coordinator.core.offsets.committing import names_epoch

_TIMESTAMP_IN = 1
_RETENTION_IN = range(2, 5)
_THROTTLE_SINCE = 3
_LEADER_EPOCH_SINCE = 6
_INSTANCE_ID_SINCE = 7


class CommittedPartition(Body):
    partition_index: Int32 | UnsetType = UNSET
    committed_offset: Int64 | UnsetType = UNSET
    committed_leader_epoch: Int32 | UnsetType = UNSET
    committed_metadata: Text | UnsetType | None = UNSET
    commit_timestamp: Int64 | UnsetType = UNSET


class CommittedTopic(Body):
    name: Text | UnsetType | None = UNSET
    topic_id: Uuid | UnsetType = UNSET
    partitions: list[CommittedPartition] | UnsetType = UNSET


class OffsetCommitBody(Body):
    group_id: Text | UnsetType = UNSET
    generation_id_or_member_epoch: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    retention_time_ms: Int64 | UnsetType = UNSET
    topics: list[CommittedTopic] | UnsetType = UNSET
    is_reset: bool | UnsetType = UNSET
    """Our own field."""
    is_restore: bool | UnsetType = UNSET
    """Our own field."""


def _to_request(body: OffsetCommitBody, version: int) -> requests.OffsetCommit:
    instance_id = or_default(body.group_instance_id, None)
    if version < _INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", instance_id, None, version)
    generation = number_or_none(body.generation_id_or_member_epoch)
    # Our own fields are for administrators: a member's commit is never a reset.
    is_of_member = body.member_id or instance_id is not None or names_epoch(generation)
    for name, value in (("isReset", body.is_reset), ("isRestore", body.is_restore)):
        if value is True and is_of_member:
            raise FieldError(f"{name} = true", "must not come from a member")
    return requests.OffsetCommit(
        group_id=body.group_id or "",
        generation=generation,
        member_id=body.member_id or "",
        group_instance_id=instance_id,
        # The version decides about retention: other versions ignore the field, as Kafka does.
        retention_time_ms=(
            number_or_none(body.retention_time_ms) if version in _RETENTION_IN else None
        ),
        topics=tuple([_topic_commit(topic, version) for topic in body.topics or ()]),
        is_reset=body.is_reset is True,
        is_restore=body.is_restore is True,
    )


def _topic_commit(topic: CommittedTopic, version: int) -> requests.TopicCommit:
    knows_leader_epoch = version >= _LEADER_EPOCH_SINCE
    partitions = tuple(
        [
            requests.PartitionCommit(
                entry.partition_index or 0,
                entry.committed_offset or 0,
                number_or_none(entry.committed_leader_epoch) if knows_leader_epoch else None,
                "" if entry.committed_metadata is UNSET else entry.committed_metadata,
                None if entry.commit_timestamp is UNSET else _commit_timestamp(entry, version),
            )
            for entry in topic.partitions or ()
        ]
    )
    if version >= requests.TOPIC_IDS_SINCE:
        return requests.TopicCommit(None, uuid_or_none(topic.topic_id), partitions)
    return requests.TopicCommit(topic_name(topic.name), None, partitions)


def _commit_timestamp(entry: CommittedPartition, version: int) -> int | None:
    if version != _TIMESTAMP_IN:
        check_unknown("commitTimestamp", entry.commit_timestamp, ABSENT, version)
    return number_or_none(entry.commit_timestamp)


def _to_body(response: responses.OffsetCommitResponse, version: int) -> JsonObject:
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    results = results_by_id if version >= requests.TOPIC_IDS_SINCE else results_by_name
    body["topics"] = [results(topic) for topic in response.topics]
    return body


CODEC = codec(range(1, 11), OffsetCommitBody, _to_request, responses.OffsetCommitResponse, _to_body)
