"""What the bodies of ConsumerGroupHeartbeat and ConsumerGroupDescribe say in each version (KIP-848)."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs import versions
from group_coordinator.codecs.apis.api import Body
from group_coordinator.codecs.field_errors import check_unknown, only
from group_coordinator.codecs.fields import (
    ABSENT,
    ZERO_UUID,
    Int32,
    Text,
    Uuid,
    given,
    number_or_none,
)
from group_coordinator.core.model import requests


class OwnedTopic(Body):
    """One entry of a ConsumerGroupHeartbeat's topicPartitions."""

    topic_id: Uuid | UnsetType = UNSET
    partitions: list[Int32] | UnsetType = UNSET


class ConsumerGroupHeartbeatBody(Body):
    """ConsumerGroupHeartbeat 0-1."""

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


class ConsumerGroupDescribeBody(Body):
    """ConsumerGroupDescribe 0-1."""

    group_ids: list[Text] | UnsetType = UNSET
    include_authorized_operations: bool | UnsetType = UNSET


def heartbeat(body: ConsumerGroupHeartbeatBody, version: int) -> requests.ConsumerGroupHeartbeat:
    """ConsumerGroupHeartbeat 0-1; version 0 knows no regular expressions."""
    if version < versions.CONSUMER_REGEX_SINCE:
        check_unknown("subscribedTopicRegex", body.subscribed_topic_regex, None, version)
    names = given(body.subscribed_topic_names, None)
    owned = given(body.topic_partitions, None)
    return requests.ConsumerGroupHeartbeat(
        body.group_id or "",
        body.member_id or "",
        body.member_epoch or 0,
        given(body.instance_id, None),
        given(body.rack_id, None),
        number_or_none(given(body.rebalance_timeout_ms, ABSENT)),
        None if names is None else tuple(names),
        given(body.subscribed_topic_regex, None),
        given(body.server_assignor, None),
        None if owned is None else tuple([_owned(entry) for entry in owned]),
    )


def _owned(entry: OwnedTopic) -> requests.TopicPartitions:
    return requests.TopicPartitions(
        None, entry.topic_id or ZERO_UUID, tuple(entry.partitions or ())
    )


def describe(body: ConsumerGroupDescribeBody, version: int) -> requests.ConsumerGroupDescribe:  # noqa: ARG001
    """ConsumerGroupDescribe 0-1 of one group."""
    group_id = only("groupIds", body.group_ids or [])
    return requests.ConsumerGroupDescribe(group_id, body.include_authorized_operations or False)
