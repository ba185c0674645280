"""ConsumerGroupHeartbeat: a member of a consumer group joins, stays, acknowledges or leaves (KIP-848)."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.apis.topic_metadata import ExistingTopic, known_topics
from group_coordinator.codecs.fields import (
    ABSENT,
    ZERO_UUID,
    Int32,
    JsonObject,
    Text,
    Uuid,
    check_unknown,
    number_or_none,
    or_default,
)
from group_coordinator.core.model import requests, responses

_REGEX_SINCE = 1


class OwnedTopic(Body):
    topic_id: Uuid | UnsetType = UNSET
    partitions: list[Int32] | UnsetType = UNSET


class ConsumerGroupHeartbeatBody(Body):
    """The body. Absent fields are unchanged since the member's request before."""

    group_id: Text | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    member_epoch: Int32 | UnsetType = UNSET
    instance_id: Text | UnsetType | None = UNSET
    rack_id: Text | UnsetType | None = UNSET
    rebalance_timeout_ms: Int32 | UnsetType = UNSET
    subscribed_topic_names: list[Text] | UnsetType | None = UNSET
    subscribed_topic_regex: Text | UnsetType | None = UNSET
    server_assignor: Text | UnsetType | None = UNSET
    topic_partitions: list[OwnedTopic] | UnsetType | None = UNSET
    known_topics: list[ExistingTopic] | UnsetType = UNSET
    """Our own field."""


def _to_request(body: ConsumerGroupHeartbeatBody, version: int) -> requests.ConsumerGroupHeartbeat:
    if version < _REGEX_SINCE:
        check_unknown("subscribedTopicRegex", body.subscribed_topic_regex, None, version)
    # Null and absent are the same here: unchanged since the request before.
    names = or_default(body.subscribed_topic_names, None)
    owned = or_default(body.topic_partitions, None)
    return requests.ConsumerGroupHeartbeat(
        group_id=body.group_id or "",
        member_id=body.member_id or "",
        member_epoch=body.member_epoch or 0,
        group_instance_id=or_default(body.instance_id, None),
        rack_id=or_default(body.rack_id, None),
        rebalance_timeout_ms=number_or_none(or_default(body.rebalance_timeout_ms, ABSENT)),
        topic_names=None if names is None else tuple(names),
        topic_regex=or_default(body.subscribed_topic_regex, None),
        server_assignor=or_default(body.server_assignor, None),
        owned=None if owned is None else tuple([_owned(entry) for entry in owned]),
        known_topics=known_topics(body.known_topics) if body.known_topics else (),
    )


def _owned(entry: OwnedTopic) -> requests.TopicPartitions:
    return requests.TopicPartitions(
        None, entry.topic_id or ZERO_UUID, tuple(entry.partitions or ())
    )


def _to_body(response: responses.ConsumerGroupHeartbeatResponse, _version: int) -> JsonObject:
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


CODEC = codec(
    range(2),
    ConsumerGroupHeartbeatBody,
    _to_request,
    responses.ConsumerGroupHeartbeatResponse,
    _to_body,
)
