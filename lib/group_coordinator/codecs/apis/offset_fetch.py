"""OffsetFetch: a client reads the committed offsets of a group."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import (
    FieldError,
    Int32,
    JsonObject,
    Text,
    Uuid,
    check_unknown,
    number_on_wire,
    number_or_none,
    only_entry,
    or_default,
    topic_name,
    uuid_on_wire,
    uuid_or_none,
)
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.errors import ErrorCode

_ALL_TOPICS_SINCE = 2
_ERROR_SINCE = 2
_THROTTLE_SINCE = 3
_LEADER_EPOCH_SINCE = 5
_STABLE_SINCE = 7
_GROUPS_SINCE = 8
"""A request may have several groups; an event has one."""
_MEMBER_SINCE = 9


class OffsetFetchTopic(Body):
    name: Text | UnsetType | None = UNSET
    topic_id: Uuid | UnsetType = UNSET
    partition_indexes: list[Int32] | UnsetType = UNSET


class OffsetFetchGroup(Body):
    group_id: Text | UnsetType = UNSET
    member_id: Text | UnsetType | None = UNSET
    member_epoch: Int32 | UnsetType = UNSET
    topics: list[OffsetFetchTopic] | UnsetType | None = UNSET


class OffsetFetchBody(Body):
    group_id: Text | UnsetType = UNSET
    topics: list[OffsetFetchTopic] | UnsetType | None = UNSET
    groups: list[OffsetFetchGroup] | UnsetType = UNSET
    require_stable: bool | UnsetType = UNSET


def _to_request(body: OffsetFetchBody, version: int) -> requests.OffsetFetch:
    if version < _STABLE_SINCE:
        check_unknown("requireStable", body.require_stable, default=False, version=version)
    if version >= _GROUPS_SINCE:
        return _of_group(body, version)
    check_unknown("groups", body.groups, [], version)
    # Null means all topics, which the oldest version cannot request.
    if version < _ALL_TOPICS_SINCE and body.topics is None:
        raise FieldError("topics", f"must not be null in version {version}")
    topics = _topics(body.topics, version)
    return requests.OffsetFetch(
        body.group_id or "", None, None, topics, body.require_stable or False
    )


def _of_group(body: OffsetFetchBody, version: int) -> requests.OffsetFetch:
    check_unknown("groupId", body.group_id, "", version)
    check_unknown("topics", body.topics, [], version)
    groups = body.groups or []
    only_entry("groups", [group.group_id or "" for group in groups])
    group = groups[0]
    names_member = version >= _MEMBER_SINCE
    return requests.OffsetFetch(
        group.group_id or "",
        or_default(group.member_id, None) if names_member else None,
        number_or_none(group.member_epoch) if names_member else None,
        _topics(group.topics, version),
        body.require_stable or False,
    )


def _topics(
    topics: list[OffsetFetchTopic] | UnsetType | None, version: int
) -> tuple[requests.TopicPartitions, ...] | None:
    return None if topics is None else tuple([_topic(topic, version) for topic in topics or ()])


def _topic(topic: OffsetFetchTopic, version: int) -> requests.TopicPartitions:
    partitions = tuple(topic.partition_indexes or ())
    if version >= requests.TOPIC_IDS_SINCE:
        return requests.TopicPartitions(None, uuid_or_none(topic.topic_id), partitions)
    return requests.TopicPartitions(topic_name(topic.name), None, partitions)


def _to_body(response: responses.OffsetFetchResponse, version: int) -> JsonObject:
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    topics = [_fetched_topic(topic, response.error, version) for topic in response.topics]
    if version >= _GROUPS_SINCE:
        group = {"groupId": response.group_id, "topics": topics, "errorCode": response.error}
        body["groups"] = [group]
        return body
    body["topics"] = topics
    if version >= _ERROR_SINCE:
        body["errorCode"] = response.error
    return body


def _fetched_topic(topic: responses.FetchedTopic, error: ErrorCode, version: int) -> JsonObject:
    partitions = [_fetched_partition(entry, version) for entry in topic.partitions]
    if version < _ERROR_SINCE and error:
        # The oldest version has no field for an error of the whole request.
        partitions = [entry | {"errorCode": error} for entry in partitions]
    if version >= requests.TOPIC_IDS_SINCE:
        return {"topicId": uuid_on_wire(topic.topic_id), "partitions": partitions}
    return {"name": topic.name or "", "partitions": partitions}


def _fetched_partition(entry: responses.FetchedPartition, version: int) -> JsonObject:
    fetched: JsonObject = {
        "partitionIndex": entry.partition,
        "committedOffset": number_on_wire(entry.offset),
    }
    if version >= _LEADER_EPOCH_SINCE:
        fetched["committedLeaderEpoch"] = number_on_wire(entry.leader_epoch)
    fetched["metadata"] = entry.metadata
    fetched["errorCode"] = entry.error
    return fetched


CODEC = codec(range(1, 11), OffsetFetchBody, _to_request, responses.OffsetFetchResponse, _to_body)
