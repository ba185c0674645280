"""The records of consumer groups (KIP-848) as JSON: keys and values as Kafka's own converters print them.

Topics and partitions are sorted; Kafka leaves their order to hash maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from group_coordinator.core.model.consumer_member import (
    Assignment,
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    OwnedPartitions,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.model.topic import Topic

JsonObject: TypeAlias = dict[str, Any]

GROUP_EPOCH = 3
PARTITION_METADATA = 4
MEMBER_METADATA = 5
TARGET_EPOCH = 6
TARGET_ASSIGNMENT = 7
CURRENT_ASSIGNMENT = 8
REGULAR_EXPRESSION = 16
RECORD_TYPES: dict[type, int] = {
    GroupEpochRecord: GROUP_EPOCH,
    PartitionMetadataTombstone: PARTITION_METADATA,
    MemberRecord: MEMBER_METADATA,
    TargetEpochRecord: TARGET_EPOCH,
    TargetRecord: TARGET_ASSIGNMENT,
    CurrentRecord: CURRENT_ASSIGNMENT,
    RegexRecord: REGULAR_EXPRESSION,
}
"""Kafka's numbers of the records of consumer groups."""
_VERSION = 0


def member_of(record: ConsumerRecord) -> str | None:
    """The member that the record is about."""
    return (
        record.member_id
        if isinstance(record, MemberRecord | TargetRecord | CurrentRecord)
        else None
    )


def key_to_json(group_id: str, record: ConsumerRecord) -> JsonObject:
    """What the record is about."""
    data = {"groupId": group_id}
    member_id = member_of(record)
    if member_id is not None:
        data["memberId"] = member_id
    elif isinstance(record, RegexRecord):
        data["regularExpression"] = record.regex
    return {"type": RECORD_TYPES[type(record)], "data": data}


def value_to_json(record: ConsumerRecord) -> JsonObject | None:
    """What the record says; None for a tombstone."""
    if isinstance(record, PartitionMetadataTombstone) or record.value is None:
        return None
    return {"version": _VERSION, "data": _data(record.value)}


def topic_names(record: ConsumerRecord, topics: Mapping[str, Topic]) -> dict[str, str]:
    """The names, by id, of the known topics that an assignment is about: Kafka's record has the ids alone."""
    if not isinstance(record, TargetRecord | CurrentRecord) or record.value is None:
        return {}
    value = record.value
    topic_ids = (
        {*value} if isinstance(value, dict) else {*value.assigned, *value.pending_revocation}
    )
    return {topic.topic_id: topic.name for topic in topics.values() if topic.topic_id in topic_ids}


def _data(  # noqa: PLR0911 - one line a value
    value: GroupEpoch
    | SubscriptionMetadata
    | TargetEpoch
    | Assignment
    | CurrentAssignment
    | ResolvedRegex,
) -> JsonObject:
    match value:
        case GroupEpoch():
            return _group_epoch(value)
        case SubscriptionMetadata():
            return _member(value)
        case TargetEpoch():
            return _target_epoch(value)
        case dict():
            return _target(value)
        case CurrentAssignment():
            return _current(value)
        case ResolvedRegex():
            return _regex(value)
        case _:
            assert_never(value)


def _group_epoch(epoch: GroupEpoch) -> JsonObject:
    data: JsonObject = {"epoch": epoch.epoch}
    if epoch.metadata_hash:
        data["metadataHash"] = epoch.metadata_hash
    return data


def _member(metadata: SubscriptionMetadata) -> JsonObject:
    """No pattern is an empty one there."""
    return {
        "instanceId": metadata.group_instance_id,
        "rackId": metadata.rack_id,
        "clientId": metadata.client_id,
        "clientHost": metadata.client_host,
        "subscribedTopicNames": list(metadata.topic_names),
        "subscribedTopicRegex": metadata.topic_regex or "",
        "rebalanceTimeoutMs": metadata.rebalance_timeout_ms,
        "serverAssignor": metadata.server_assignor,
        "classicMemberMetadata": None if metadata.classic is None else _classic(metadata.classic),
    }


def _classic(classic: ClassicMetadata) -> JsonObject:
    protocols = [{"name": entry.name, "metadata": entry.metadata} for entry in classic.protocols]
    return {"sessionTimeoutMs": classic.session_timeout_ms, "supportedProtocols": protocols}


def _regex(regex: ResolvedRegex) -> JsonObject:
    return {"topics": list(regex.topics), "version": regex.version, "timestamp": regex.timestamp_ms}


def _target_epoch(target: TargetEpoch) -> JsonObject:
    data: JsonObject = {"assignmentEpoch": target.epoch}
    if target.timestamp_ms:
        data["assignmentTimestamp"] = target.timestamp_ms
    return data


def _target(assignment: Assignment) -> JsonObject:
    topics = [
        {"topicId": topic_id, "partitions": list(partitions)}
        for topic_id, partitions in sorted(assignment.items())
    ]
    return {"topicPartitions": topics}


def _current(current: CurrentAssignment) -> JsonObject:
    return {
        "memberEpoch": current.epoch,
        "previousMemberEpoch": current.previous_epoch,
        "state": current.state,
        "assignedPartitions": _owned(current.assigned),
        "partitionsPendingRevocation": _owned(current.pending_revocation),
    }


def _owned(owned: OwnedPartitions) -> list[JsonObject]:
    return [
        {
            "topicId": topic_id,
            "partitions": sorted(partitions),
            "assignmentEpochs": [epoch for _, epoch in sorted(partitions.items())],
        }
        for topic_id, partitions in sorted(owned.items())
    ]
