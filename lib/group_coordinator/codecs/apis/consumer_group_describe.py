"""ConsumerGroupDescribe: the state and the members of a consumer group (KIP-848). An event has a single group."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import JsonObject, Text, only_entry, operations_on_wire
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.requests import Topic

_MEMBER_TYPE_SINCE = 1

# Kafka's types of members.
_CLASSIC, _CONSUMER = 0, 1


class ConsumerGroupDescribeBody(Body):
    group_ids: list[Text] | UnsetType = UNSET
    include_authorized_operations: bool | UnsetType = UNSET


def _to_request(body: ConsumerGroupDescribeBody, _version: int) -> requests.ConsumerGroupDescribe:
    group_id = only_entry("groupIds", body.group_ids or [])
    return requests.ConsumerGroupDescribe(group_id, body.include_authorized_operations or False)


def _to_body(response: responses.ConsumerGroupDescribeResponse, version: int) -> JsonObject:
    group = {
        "errorCode": response.error,
        "errorMessage": response.error_message,
        "groupId": response.group_id,
        "groupState": response.state,
        "groupEpoch": response.epoch,
        "assignmentEpoch": response.assignment_epoch,
        "assignorName": response.assignor,
        "members": [_member(entry, version) for entry in response.members],
        "authorizedOperations": operations_on_wire(response.operations),
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
    if version >= _MEMBER_TYPE_SINCE:
        described["memberType"] = _CLASSIC if member.uses_classic_protocol else _CONSUMER
    return described


def _assignment(assigned: tuple[tuple[Topic, tuple[int, ...]], ...]) -> JsonObject:
    return {
        "topicPartitions": [
            {"topicId": topic.topic_id, "topicName": topic.name, "partitions": list(partitions)}
            for topic, partitions in assigned
        ]
    }


CODEC = codec(
    range(2),
    ConsumerGroupDescribeBody,
    _to_request,
    responses.ConsumerGroupDescribeResponse,
    _to_body,
)
