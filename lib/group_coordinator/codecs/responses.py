"""Responses: the JSON of a reply, its body with Kafka's fields of the version that was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from group_coordinator.codecs import versions
from group_coordinator.codecs.apis import consumer_group_describe as consumer_group_responses
from group_coordinator.codecs.apis.group_resources import GROUP_RESOURCE
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.codecs.fields import ZERO_UUID, number_on_wire
from group_coordinator.core.model import responses
from group_coordinator.core.model.errors import ErrorCode

JsonObject: TypeAlias = dict[str, Any]

_NO_OPERATIONS = -(2**31)
"""Authorized operations that nobody worked out."""
_INT = 3
"""The number of whole numbers among Kafka's types of settings."""


def to_json(group_id: str, reply: responses.Reply, at_ms: int) -> JsonObject:
    """A reply as a JSON object."""
    ticket, response = reply.ticket, reply.response
    api = _APIS[type(response)]
    return {
        "id": ticket.event_id,
        "correlationId": ticket.correlation_id,
        "api": api.name,
        "version": ticket.version,
        "groupId": group_id,
        "at": at_ms,
        "body": api.body(response, ticket.version),
    }


def refusal_to_json(
    group_id: str, event_id: str, fault: InvalidEventError, at_ms: int
) -> JsonObject:
    """The answer to an event that did not become a request, as a JSON object."""
    return {
        "id": event_id,
        "correlationId": fault.correlation_id,
        "api": fault.api,
        "version": fault.version,
        "groupId": group_id,
        "at": at_ms,
        "body": {"errorCode": fault.code, "errorMessage": fault.reason},
    }


def _throttled(version: int, since: int) -> JsonObject:
    """The first field of nearly every body: nobody is throttled."""
    return {"throttleTimeMs": 0} if version >= since else {}


def _join_group(response: responses.JoinGroupResponse, version: int) -> JsonObject:
    body = _throttled(version, versions.JOIN_THROTTLE_SINCE)
    body["errorCode"] = response.error
    body["generationId"] = number_on_wire(response.generation)
    if version >= versions.JOIN_PROTOCOL_TYPE_SINCE:
        body["protocolType"] = response.protocol_type
        body["protocolName"] = response.protocol
    else:
        body["protocolName"] = response.protocol or ""
    body["leader"] = response.leader
    if version >= versions.JOIN_SKIP_ASSIGNMENT_SINCE:
        body["skipAssignment"] = response.skip_assignment
    body["memberId"] = response.member_id
    body["members"] = [_joined_member(member, version) for member in response.members]
    return body


def _joined_member(member: responses.JoinedMember, version: int) -> JsonObject:
    if version < versions.JOIN_INSTANCE_ID_SINCE:
        return {"memberId": member.member_id, "metadata": member.metadata}
    return {
        "memberId": member.member_id,
        "groupInstanceId": member.group_instance_id,
        "metadata": member.metadata,
    }


def _sync_group(response: responses.SyncGroupResponse, version: int) -> JsonObject:
    body = _throttled(version, versions.SYNC_THROTTLE_SINCE)
    body["errorCode"] = response.error
    if version >= versions.SYNC_PROTOCOL_SINCE:
        body["protocolType"] = response.protocol_type
        body["protocolName"] = response.protocol
    body["assignment"] = response.assignment
    return body


def _heartbeat(response: responses.HeartbeatResponse, version: int) -> JsonObject:
    body = _throttled(version, versions.HEARTBEAT_THROTTLE_SINCE)
    body["errorCode"] = response.error
    return body


def _leave_group(response: responses.LeaveGroupResponse, version: int) -> JsonObject:
    body = _throttled(version, versions.LEAVE_THROTTLE_SINCE)
    if version < versions.LEAVE_MEMBERS_SINCE:
        errors = [response.error, *(member.error for member in response.members)]
        body["errorCode"] = next(filter(None, errors), ErrorCode.NONE)
        return body
    body["errorCode"] = response.error
    body["members"] = [
        {
            "memberId": member.member_id,
            "groupInstanceId": member.group_instance_id,
            "errorCode": member.error,
        }
        for member in response.members
    ]
    return body


def _offset_commit(response: responses.OffsetCommitResponse, version: int) -> JsonObject:
    body = _throttled(version, versions.COMMIT_THROTTLE_SINCE)
    by_id = version >= versions.TOPIC_IDS_SINCE
    body["topics"] = [
        {
            **_topic(topic.name, topic.topic_id, by_id=by_id),
            "partitions": _partition_results(topic.partitions),
        }
        for topic in response.topics
    ]
    return body


def _txn_offset_commit(
    response: responses.TxnOffsetCommitResponse,
    version: int,  # noqa: ARG001 - all versions are alike
) -> JsonObject:
    topics = [
        {"name": topic.name or "", "partitions": _partition_results(topic.partitions)}
        for topic in response.topics
    ]
    return {"throttleTimeMs": 0, "topics": topics}


def _end_txn(response: responses.EndTxnResponse, version: int) -> JsonObject:  # noqa: ARG001
    return {"throttleTimeMs": 0, "errorCode": response.error}


def _topic(name: str | None, topic_id: str | None, *, by_id: bool) -> JsonObject:
    return {"topicId": topic_id or ZERO_UUID} if by_id else {"name": name or ""}


def _partition_results(results: tuple[responses.PartitionResult, ...]) -> list[JsonObject]:
    return [{"partitionIndex": result.partition, "errorCode": result.error} for result in results]


def _offset_fetch(response: responses.OffsetFetchResponse, version: int) -> JsonObject:
    body = _throttled(version, versions.FETCH_THROTTLE_SINCE)
    topics = [_fetched_topic(topic, response.error, version) for topic in response.topics]
    if version >= versions.FETCH_GROUPS_SINCE:
        group = {"groupId": response.group_id, "topics": topics, "errorCode": response.error}
        body["groups"] = [group]
        return body
    body["topics"] = topics
    if version >= versions.FETCH_ERROR_SINCE:
        body["errorCode"] = response.error
    return body


def _fetched_topic(topic: responses.FetchedTopic, error: ErrorCode, version: int) -> JsonObject:
    by_id = version >= versions.TOPIC_IDS_SINCE
    partitions = [_fetched_partition(entry, version) for entry in topic.partitions]
    if version < versions.FETCH_ERROR_SINCE and error:
        # The oldest version has no other place for an error of the whole.
        partitions = [entry | {"errorCode": error} for entry in partitions]
    return {**_topic(topic.name, topic.topic_id, by_id=by_id), "partitions": partitions}


def _fetched_partition(entry: responses.FetchedPartition, version: int) -> JsonObject:
    fetched: JsonObject = {
        "partitionIndex": entry.partition,
        "committedOffset": number_on_wire(entry.offset),
    }
    if version >= versions.FETCH_LEADER_EPOCH_SINCE:
        fetched["committedLeaderEpoch"] = number_on_wire(entry.leader_epoch)
    fetched["metadata"] = entry.metadata
    fetched["errorCode"] = entry.error
    return fetched


def _offset_delete(response: responses.OffsetDeleteResponse, version: int) -> JsonObject:  # noqa: ARG001
    return {
        "errorCode": response.error,
        "throttleTimeMs": 0,
        "topics": [
            {"name": topic.name or "", "partitions": _partition_results(topic.partitions)}
            for topic in response.topics
        ],
    }


def _delete_groups(response: responses.DeleteGroupResponse, version: int) -> JsonObject:  # noqa: ARG001
    result = {"groupId": response.group_id, "errorCode": response.error}
    return {"throttleTimeMs": 0, "results": [result]}


def _describe_groups(response: responses.DescribeGroupResponse, version: int) -> JsonObject:
    group: JsonObject = {"errorCode": response.error}
    if version >= versions.DESCRIBE_ERROR_MESSAGE_SINCE:
        group["errorMessage"] = response.error_message
    group["groupId"] = response.group_id
    group["groupState"] = response.state
    group["protocolType"] = response.protocol_type
    group["protocolData"] = response.protocol
    group["members"] = [_described_member(member, version) for member in response.members]
    if version >= versions.DESCRIBE_OPERATIONS_SINCE:
        asked = response.operations is not None
        group["authorizedOperations"] = response.operations if asked else _NO_OPERATIONS
    return _throttled(version, versions.DESCRIBE_THROTTLE_SINCE) | {"groups": [group]}


def _described_member(member: responses.DescribedMember, version: int) -> JsonObject:
    described: JsonObject = {"memberId": member.member_id}
    if version >= versions.DESCRIBE_INSTANCE_ID_SINCE:
        described["groupInstanceId"] = member.group_instance_id
    described["clientId"] = member.client_id
    described["clientHost"] = member.client_host
    described["memberMetadata"] = member.metadata
    described["memberAssignment"] = member.assignment
    return described


def _describe_configs(response: responses.DescribeConfigsResponse, version: int) -> JsonObject:
    result = _resource_result(response)
    result["configs"] = [_described_config(config, version) for config in response.configs]
    return {"throttleTimeMs": 0, "results": [result]}


def _resource_result(
    response: responses.DescribeConfigsResponse | responses.AlterConfigsResponse,
) -> JsonObject:
    return {
        "errorCode": response.error,
        "errorMessage": response.error_message,
        "resourceType": GROUP_RESOURCE,
        "resourceName": response.group_id,
    }


def _described_config(config: responses.DescribedConfig, version: int) -> JsonObject:
    described: JsonObject = {
        "name": config.name,
        "value": config.value,
        "readOnly": False,
        "configSource": config.source,
        "isSensitive": False,
        "synonyms": [
            {"name": synonym.name, "value": synonym.value, "source": synonym.source}
            for synonym in config.synonyms
        ],
    }
    if version >= versions.CONFIG_DOCUMENTATION_SINCE:
        described["configType"] = _INT
        described["documentation"] = config.documentation
    return described


def _alter_configs(response: responses.AlterConfigsResponse, version: int) -> JsonObject:  # noqa: ARG001
    return {"throttleTimeMs": 0, "responses": [_resource_result(response)]}


class _Api(NamedTuple):
    name: str
    body: Callable[[Any, int], JsonObject]


_APIS: dict[type, _Api] = {
    responses.OffsetCommitResponse: _Api("OffsetCommit", _offset_commit),
    responses.TxnOffsetCommitResponse: _Api("TxnOffsetCommit", _txn_offset_commit),
    responses.EndTxnResponse: _Api("EndTxn", _end_txn),
    responses.HeartbeatResponse: _Api("Heartbeat", _heartbeat),
    responses.OffsetFetchResponse: _Api("OffsetFetch", _offset_fetch),
    responses.JoinGroupResponse: _Api("JoinGroup", _join_group),
    responses.SyncGroupResponse: _Api("SyncGroup", _sync_group),
    responses.LeaveGroupResponse: _Api("LeaveGroup", _leave_group),
    responses.OffsetDeleteResponse: _Api("OffsetDelete", _offset_delete),
    responses.DeleteGroupResponse: _Api("DeleteGroups", _delete_groups),
    responses.DescribeGroupResponse: _Api("DescribeGroups", _describe_groups),
    responses.ConsumerGroupHeartbeatResponse: _Api(
        "ConsumerGroupHeartbeat", consumer_group_responses.heartbeat
    ),
    responses.ConsumerGroupDescribeResponse: _Api(
        "ConsumerGroupDescribe", consumer_group_responses.describe
    ),
    responses.DescribeConfigsResponse: _Api("DescribeConfigs", _describe_configs),
    responses.AlterConfigsResponse: _Api("IncrementalAlterConfigs", _alter_configs),
}
