"""The APIs that events may speak: their versions, their bodies, and what a body says in each version.

The rules are those of Kafka's message definitions: what is left out has the version's default, and a field that a
version does not know is passed over where Kafka calls it ignorable; else it must have its default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, UnsetType, json

from group_coordinator.codecs import bodies, versions
from group_coordinator.codecs.consumer_protocol import parse_subscription
from group_coordinator.codecs.faults import FieldError
from group_coordinator.codecs.primitives import ABSENT, ZERO_UUID, given, number_or_none
from group_coordinator.core import requests
from group_coordinator.core.group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.values import Protocol, Topic

Body = TypeVar("Body", bound=bodies.Body)

NOT_YET = frozenset(
    {
        "ConsumerGroupDescribe",
        "ConsumerGroupHeartbeat",
        "DescribeConfigs",
        "IncrementalAlterConfigs",
        "TxnOffsetCommit",
    }
)
"""APIs that are understood, but not served: they are answered with UNSUPPORTED_VERSION."""


class Api(NamedTuple):
    """How an API's bodies become requests."""

    versions: range
    decode: Callable[[Any], Any]
    request: Callable[[Any, int], requests.Request]


def _api(
    first: int, last: int, body: type[Body], request: Callable[[Body, int], requests.Request]
) -> Api:
    return Api(range(first, last + 1), json.Decoder(body).decode, request)


def _check_unknown(field: str, value: object, default: object, version: int) -> None:
    """A field that the version does not know and that Kafka does not call ignorable."""
    if value is not UNSET and value != default:
        raise FieldError(field, f"version {version} has no such field")


def _only(field: str, names: list[str]) -> str:
    """Groups are apart, so an event is about one; clients split longer lists."""
    if len(names) != 1:
        raise FieldError(field, f"must have exactly one entry, not {len(names)}")
    return names[0]


def _join_group(body: bodies.JoinGroupBody, version: int) -> requests.JoinGroup:
    if version < versions.JOIN_INSTANCE_ID_SINCE:
        _check_unknown("groupInstanceId", body.group_instance_id, None, version)
    session_timeout_ms = rebalance_timeout_ms = body.session_timeout_ms or 0
    if version >= versions.JOIN_REBALANCE_TIMEOUT_SINCE:
        rebalance_timeout_ms = given(body.rebalance_timeout_ms, ABSENT)
    protocol_type = body.protocol_type or ""
    return requests.JoinGroup(
        body.group_id or "",
        session_timeout_ms,
        rebalance_timeout_ms,
        body.member_id or "",
        given(body.group_instance_id, None),
        protocol_type,
        tuple([_protocol(entry, protocol_type) for entry in body.protocols or ()]),
    )


def _protocol(entry: bodies.JoinGroupProtocol, protocol_type: str) -> Protocol:
    metadata = entry.metadata or b""
    readable = protocol_type == CONSUMER_PROTOCOL_TYPE
    return Protocol(entry.name or "", metadata, parse_subscription(metadata) if readable else None)


def _sync_group(body: bodies.SyncGroupBody, version: int) -> requests.SyncGroup:
    if version < versions.SYNC_INSTANCE_ID_SINCE:
        _check_unknown("groupInstanceId", body.group_instance_id, None, version)
    names_protocol = version >= versions.SYNC_PROTOCOL_SINCE
    return requests.SyncGroup(
        body.group_id or "",
        body.generation_id or 0,
        body.member_id or "",
        given(body.group_instance_id, None),
        given(body.protocol_type, None) if names_protocol else None,
        given(body.protocol_name, None) if names_protocol else None,
        tuple(
            [(entry.member_id or "", entry.assignment or b"") for entry in body.assignments or ()]
        ),
    )


def _heartbeat(body: bodies.HeartbeatBody, version: int) -> requests.Heartbeat:
    instance_id = given(body.group_instance_id, None)
    if version < versions.HEARTBEAT_INSTANCE_ID_SINCE:
        _check_unknown("groupInstanceId", instance_id, None, version)
    return requests.Heartbeat(
        body.group_id or "", body.generation_id or 0, body.member_id or "", instance_id
    )


def _leave_group(body: bodies.LeaveGroupBody, version: int) -> requests.LeaveGroup:
    if version < versions.LEAVE_MEMBERS_SINCE:
        _check_unknown("members", body.members, [], version)
        members = [requests.MemberIdentity(body.member_id or "", None)]
    else:
        _check_unknown("memberId", body.member_id, "", version)
        members = [
            requests.MemberIdentity(entry.member_id or "", given(entry.group_instance_id, None))
            for entry in body.members or ()
        ]
    return requests.LeaveGroup(body.group_id or "", tuple(members))


def _offset_commit(body: bodies.OffsetCommitBody, version: int) -> requests.OffsetCommit:
    generation = body.generation_id_or_member_epoch
    instance_id = given(body.group_instance_id, None)
    if version < versions.COMMIT_INSTANCE_ID_SINCE:
        _check_unknown("groupInstanceId", instance_id, None, version)
    return requests.OffsetCommit(
        body.group_id or "",
        None if generation is UNSET or generation < 0 else generation,
        body.member_id or "",
        instance_id,
        number_or_none(body.retention_time_ms) if version in versions.COMMIT_RETENTION_IN else None,
        tuple([_topic_commit(topic, version) for topic in body.topics or ()]),
    )


def _topic_commit(topic: bodies.CommittedTopic, version: int) -> requests.TopicCommit:
    knows_leader_epoch = version >= versions.COMMIT_LEADER_EPOCH_SINCE
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
    if version >= versions.TOPIC_IDS_SINCE:
        return requests.TopicCommit(None, _topic_id(topic), partitions)
    return requests.TopicCommit(_topic_name(topic), None, partitions)


def _commit_timestamp(entry: bodies.CommittedPartition, version: int) -> int | None:
    if version != versions.COMMIT_TIMESTAMP_IN:
        _check_unknown("commitTimestamp", entry.commit_timestamp, ABSENT, version)
    return number_or_none(entry.commit_timestamp)


def _topic_name(topic: bodies.CommittedTopic | bodies.FetchedTopic) -> str:
    if topic.name is None:
        raise FieldError("topics.name", "must not be null")
    return topic.name or ""


def _topic_id(topic: bodies.CommittedTopic | bodies.FetchedTopic) -> str | None:
    return None if topic.topic_id is UNSET or topic.topic_id == ZERO_UUID else topic.topic_id


def _offset_fetch(body: bodies.OffsetFetchBody, version: int) -> requests.OffsetFetch:
    if version < versions.FETCH_STABLE_SINCE:
        _check_unknown("requireStable", body.require_stable, default=False, version=version)
    if version < versions.FETCH_GROUPS_SINCE:
        _check_unknown("groups", body.groups, [], version)
        if version < versions.FETCH_ALL_SINCE and body.topics is None:
            raise FieldError("topics", f"must not be null in version {version}")
        topics = _fetched_topics(body.topics, version)
        return requests.OffsetFetch(
            body.group_id or "", None, None, topics, body.require_stable or False
        )
    _check_unknown("groupId", body.group_id, "", version)
    _check_unknown("topics", body.topics, [], version)
    return _fetch_of_group(body, version)


def _fetch_of_group(body: bodies.OffsetFetchBody, version: int) -> requests.OffsetFetch:
    groups = body.groups or []
    _only("groups", [group.group_id or "" for group in groups])
    group = groups[0]
    names_member = version >= versions.FETCH_MEMBER_SINCE
    return requests.OffsetFetch(
        group.group_id or "",
        given(group.member_id, None) if names_member else None,
        number_or_none(group.member_epoch) if names_member else None,
        _fetched_topics(group.topics, version),
        body.require_stable or False,
    )


def _fetched_topics(
    topics: list[bodies.FetchedTopic] | UnsetType | None, version: int
) -> tuple[requests.TopicPartitions, ...] | None:
    if topics is None:
        return None
    by_id = version >= versions.TOPIC_IDS_SINCE
    return tuple(
        [
            requests.TopicPartitions(
                None if by_id else _topic_name(topic),
                _topic_id(topic) if by_id else None,
                tuple(topic.partition_indexes or ()),
            )
            for topic in topics or ()
        ]
    )


def _offset_delete(body: bodies.OffsetDeleteBody, version: int) -> requests.OffsetDelete:  # noqa: ARG001
    topics = [
        requests.TopicPartitions(
            topic.name or "",
            None,
            tuple([entry.partition_index or 0 for entry in topic.partitions or ()]),
        )
        for topic in body.topics or ()
    ]
    return requests.OffsetDelete(body.group_id or "", tuple(topics))


def _delete_groups(body: bodies.DeleteGroupsBody, version: int) -> requests.DeleteGroup:  # noqa: ARG001
    return requests.DeleteGroup(_only("groupsNames", list(dict.fromkeys(body.groups_names or ()))))


def _describe_groups(body: bodies.DescribeGroupsBody, version: int) -> requests.DescribeGroup:
    if version < versions.DESCRIBE_OPERATIONS_SINCE:
        asked = body.include_authorized_operations
        _check_unknown("includeAuthorizedOperations", asked, default=False, version=version)
    return requests.DescribeGroup(_only("groups", body.groups or []))


def _topic_metadata(body: bodies.TopicMetadataBody, version: int) -> requests.TopicMetadata:  # noqa: ARG001
    names = {topic.name for topic in body.topics}
    if len(names) < len(body.topics):
        raise FieldError("topics", "must not name a topic twice")
    return requests.TopicMetadata(
        body.group_id,
        tuple([Topic(entry.name, entry.topic_id, entry.num_partitions) for entry in body.topics]),
        tuple([(entry.name, entry.topic_id) for entry in body.deleted_topics or ()]),
    )


def _tick(body: bodies.TickBody, version: int) -> requests.Tick:  # noqa: ARG001
    return requests.Tick(body.group_id or "")


APIS = {
    "OffsetCommit": _api(1, 10, bodies.OffsetCommitBody, _offset_commit),
    "Heartbeat": _api(0, 4, bodies.HeartbeatBody, _heartbeat),
    "OffsetFetch": _api(1, 10, bodies.OffsetFetchBody, _offset_fetch),
    "JoinGroup": _api(0, 9, bodies.JoinGroupBody, _join_group),
    "SyncGroup": _api(0, 5, bodies.SyncGroupBody, _sync_group),
    "LeaveGroup": _api(0, 5, bodies.LeaveGroupBody, _leave_group),
    "OffsetDelete": _api(0, 0, bodies.OffsetDeleteBody, _offset_delete),
    "DeleteGroups": _api(0, 2, bodies.DeleteGroupsBody, _delete_groups),
    "DescribeGroups": _api(0, 6, bodies.DescribeGroupsBody, _describe_groups),
    "TopicMetadata": _api(0, 0, bodies.TopicMetadataBody, _topic_metadata),
    "Tick": _api(0, 0, bodies.TickBody, _tick),
}
