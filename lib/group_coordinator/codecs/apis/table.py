"""The APIs that events may speak: their versions, their bodies, and what a body says in each version.

The rules are those of Kafka's message definitions: what is left out has the version's default, and a field that a
version does not know is passed over where Kafka calls it ignorable; else it must have its default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, json

from group_coordinator.codecs import versions
from group_coordinator.codecs.apis import api as bodies
from group_coordinator.codecs.apis import consumer_group_heartbeat as consumer_group_requests
from group_coordinator.codecs.apis import group_resources as config_requests
from group_coordinator.codecs.apis import join_group as membership_requests
from group_coordinator.codecs.apis import offset_commit as offset_requests
from group_coordinator.codecs.apis.topic_metadata import known_topics
from group_coordinator.codecs.field_errors import check_unknown, only
from group_coordinator.core.model import requests

Body = TypeVar("Body", bound=bodies.Body)


class Api(NamedTuple):
    """How an API's bodies become requests."""

    versions: range
    decode: Callable[[Any], Any]
    request: Callable[[Any, int], requests.Request]


def _api(
    first: int, last: int, body: type[Body], request: Callable[[Body, int], requests.Request]
) -> Api:
    return Api(range(first, last + 1), json.Decoder(body).decode, request)


def _delete_groups(body: bodies.DeleteGroupsBody, version: int) -> requests.DeleteGroup:  # noqa: ARG001
    return requests.DeleteGroup(only("groupsNames", list(dict.fromkeys(body.groups_names or ()))))


def _describe_groups(body: bodies.DescribeGroupsBody, version: int) -> requests.DescribeGroup:
    if version < versions.DESCRIBE_OPERATIONS_SINCE:
        asked = body.include_authorized_operations
        check_unknown("includeAuthorizedOperations", asked, default=False, version=version)
    group_id = only("groups", body.groups or [])
    return requests.DescribeGroup(group_id, body.include_authorized_operations or False)


def _topic_metadata(body: bodies.TopicMetadataBody, version: int) -> requests.TopicMetadata:  # noqa: ARG001
    return requests.TopicMetadata(
        body.group_id,
        known_topics(body.topics),
        tuple([(entry.name, entry.topic_id) for entry in body.deleted_topics or ()]),
        None if body.version is UNSET else body.version,
        True if body.complete is UNSET else body.complete,
    )


def _tick(body: bodies.TickBody, version: int) -> requests.Tick:  # noqa: ARG001
    return requests.Tick(body.group_id or "")


APIS = {
    "OffsetCommit": _api(1, 10, bodies.OffsetCommitBody, offset_requests.offset_commit),
    "TxnOffsetCommit": _api(0, 5, bodies.TxnOffsetCommitBody, offset_requests.txn_offset_commit),
    "EndTxn": _api(0, 0, bodies.EndTxnBody, offset_requests.end_txn),
    "Heartbeat": _api(0, 4, bodies.HeartbeatBody, membership_requests.heartbeat),
    "OffsetFetch": _api(1, 10, bodies.OffsetFetchBody, offset_requests.offset_fetch),
    "JoinGroup": _api(0, 9, bodies.JoinGroupBody, membership_requests.join_group),
    "SyncGroup": _api(0, 5, bodies.SyncGroupBody, membership_requests.sync_group),
    "LeaveGroup": _api(0, 5, bodies.LeaveGroupBody, membership_requests.leave_group),
    "OffsetDelete": _api(0, 0, bodies.OffsetDeleteBody, offset_requests.offset_delete),
    "DeleteGroups": _api(0, 2, bodies.DeleteGroupsBody, _delete_groups),
    "DescribeGroups": _api(0, 6, bodies.DescribeGroupsBody, _describe_groups),
    "ConsumerGroupHeartbeat": _api(
        0, 1, consumer_group_requests.ConsumerGroupHeartbeatBody, consumer_group_requests.heartbeat
    ),
    "ConsumerGroupDescribe": _api(
        0, 1, consumer_group_requests.ConsumerGroupDescribeBody, consumer_group_requests.describe
    ),
    "DescribeConfigs": _api(1, 4, bodies.DescribeConfigsBody, config_requests.describe_configs),
    "IncrementalAlterConfigs": _api(
        0, 1, bodies.IncrementalAlterConfigsBody, config_requests.alter_configs
    ),
    "TopicMetadata": _api(0, 0, bodies.TopicMetadataBody, _topic_metadata),
    "Tick": _api(0, 0, bodies.TickBody, _tick),
}
