"""The bodies of the responses to ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848)."""

from __future__ import annotations

from typing import Any, TypeAlias

from group_coordinator.codecs import versions
from group_coordinator.core.model import responses
from group_coordinator.core.model.topic import Topic

JsonObject: TypeAlias = dict[str, Any]

_NO_OPERATIONS = -(2**31)
"""Authorized operations that nobody worked out."""

_CLASSIC, _CONSUMER = 0, 1
"""Kafka's types of members."""


def heartbeat(response: responses.ConsumerGroupHeartbeatResponse, version: int) -> JsonObject:  # noqa: ARG001
    """ConsumerGroupHeartbeat 0-1."""
    assignment = response.assignment
    return {
        "throttleTimeMs": 0,
        "errorCode": response.error,
        "errorMessage": response.error_message,
        "memberId": response.member_id,
        "memberEpoch": response.member_epoch,
        "heartbeatIntervalMs": response.heartbeat_interval_ms,
        "assignment": None
        if assignment is None
        else {
            "topicPartitions": [
                {"topicId": topic_id, "partitions": list(partitions)}
                for topic_id, partitions in assignment.items()
            ]
        },
    }


def describe(response: responses.ConsumerGroupDescribeResponse, version: int) -> JsonObject:
    """ConsumerGroupDescribe 0-1."""
    asked = response.operations is not None
    group = {
        "errorCode": response.error,
        "errorMessage": response.error_message,
        "groupId": response.group_id,
        "groupState": response.state,
        "groupEpoch": response.epoch,
        "assignmentEpoch": response.assignment_epoch,
        "assignorName": response.assignor,
        "members": [_member(entry, version) for entry in response.members],
        "authorizedOperations": response.operations if asked else _NO_OPERATIONS,
    }
    return {"throttleTimeMs": 0, "groups": [group]}


def _member(entry: responses.DescribedConsumer, version: int) -> JsonObject:
    member, metadata = entry.member, entry.member.metadata
    described = {
        "memberId": member.member_id,
        "instanceId": metadata.group_instance_id,
        "rackId": metadata.rack_id,
        "memberEpoch": member.epoch,
        "clientId": metadata.client_id,
        "clientHost": metadata.client_host,
        "subscribedTopicNames": list(metadata.topic_names),
        "subscribedTopicRegex": metadata.topic_regex or "",
        "assignment": _assignment(entry.assignment),
        "targetAssignment": _assignment(entry.target),
    }
    if version >= versions.CONSUMER_MEMBER_TYPE_SINCE:
        described["memberType"] = _CLASSIC if member.uses_classic_protocol else _CONSUMER
    return described


def _assignment(assigned: tuple[tuple[Topic, tuple[int, ...]], ...]) -> JsonObject:
    return {
        "topicPartitions": [
            {"topicId": topic.topic_id, "topicName": topic.name, "partitions": list(partitions)}
            for topic, partitions in assigned
        ]
    }
