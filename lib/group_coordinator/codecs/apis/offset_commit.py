"""What the bodies of the requests about offsets say in each version."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs import versions
from group_coordinator.codecs.apis import api as bodies
from group_coordinator.codecs.field_errors import FieldError, check_unknown, only
from group_coordinator.codecs.fields import ABSENT, ZERO_UUID, given, number_or_none
from group_coordinator.core.model import requests


def offset_commit(body: bodies.OffsetCommitBody, version: int) -> requests.OffsetCommit:
    """OffsetCommit 1-10."""
    generation = body.generation_id_or_member_epoch
    instance_id = given(body.group_instance_id, None)
    if version < versions.COMMIT_INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", instance_id, None, version)
    return requests.OffsetCommit(
        body.group_id or "",
        number_or_none(generation),
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
        check_unknown("commitTimestamp", entry.commit_timestamp, ABSENT, version)
    return number_or_none(entry.commit_timestamp)


def _topic_name(topic: bodies.CommittedTopic | bodies.FetchedTopic) -> str:
    if topic.name is None:
        raise FieldError("topics.name", "must not be null")
    return topic.name or ""


def _topic_id(topic: bodies.CommittedTopic | bodies.FetchedTopic) -> str | None:
    return None if topic.topic_id is UNSET or topic.topic_id == ZERO_UUID else topic.topic_id


def txn_offset_commit(body: bodies.TxnOffsetCommitBody, version: int) -> requests.TxnOffsetCommit:
    """TxnOffsetCommit 0-5; a member only from version 3 on."""
    generation = given(body.generation_id, ABSENT)
    member_id = body.member_id or ""
    instance_id = given(body.group_instance_id, None)
    if version < versions.TXN_COMMIT_MEMBER_SINCE:
        check_unknown("generationId", generation, ABSENT, version)
        check_unknown("memberId", member_id, "", version)
        check_unknown("groupInstanceId", instance_id, None, version)
    return requests.TxnOffsetCommit(
        body.group_id or "",
        body.producer_id or 0,
        number_or_none(generation),
        member_id,
        instance_id,
        tuple([_txn_topic_commit(topic, version) for topic in body.topics or ()]),
    )


def _txn_topic_commit(topic: bodies.TxnCommittedTopic, version: int) -> requests.TopicCommit:
    knows_leader_epoch = version >= versions.TXN_COMMIT_LEADER_EPOCH_SINCE
    partitions = [
        requests.PartitionCommit(
            entry.partition_index or 0,
            entry.committed_offset or 0,
            number_or_none(entry.committed_leader_epoch) if knows_leader_epoch else None,
            given(entry.committed_metadata, ""),
            None,
        )
        for entry in topic.partitions or ()
    ]
    return requests.TopicCommit(topic.name or "", None, tuple(partitions))


def end_txn(body: bodies.EndTxnBody, version: int) -> requests.EndTxn:  # noqa: ARG001
    """EndTxn 0."""
    return requests.EndTxn(body.group_id, body.producer_id, body.committed)


def offset_fetch(body: bodies.OffsetFetchBody, version: int) -> requests.OffsetFetch:
    """OffsetFetch 1-10; groups, of which we take one, from version 8 on."""
    if version < versions.FETCH_STABLE_SINCE:
        check_unknown("requireStable", body.require_stable, default=False, version=version)
    if version < versions.FETCH_GROUPS_SINCE:
        check_unknown("groups", body.groups, [], version)
        if version < versions.FETCH_ALL_SINCE and body.topics is None:
            raise FieldError("topics", f"must not be null in version {version}")
        topics = _fetched_topics(body.topics, version)
        return requests.OffsetFetch(
            body.group_id or "", None, None, topics, body.require_stable or False
        )
    check_unknown("groupId", body.group_id, "", version)
    check_unknown("topics", body.topics, [], version)
    return _fetch_of_group(body, version)


def _fetch_of_group(body: bodies.OffsetFetchBody, version: int) -> requests.OffsetFetch:
    groups = body.groups or []
    only("groups", [group.group_id or "" for group in groups])
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


def offset_delete(body: bodies.OffsetDeleteBody, version: int) -> requests.OffsetDelete:  # noqa: ARG001
    """OffsetDelete 0."""
    topics = [
        requests.TopicPartitions(
            topic.name or "",
            None,
            tuple([entry.partition_index or 0 for entry in topic.partitions or ()]),
        )
        for topic in body.topics or ()
    ]
    return requests.OffsetDelete(body.group_id or "", tuple(topics))
