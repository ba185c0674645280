"""OffsetCommit, OffsetFetch and OffsetDelete, with bodies by Kafka's message schemas and the identity of the member; and lists of names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import ClientError, UnknownError, error_for, error_in
from group_coordinator.clients.results import PartitionResults


@dataclass(frozen=True, slots=True)
class MemberIdentity:
    """Identity with the fields of Kafka's ConsumerGroupMetadata. An administrator has only the group id."""

    group_id: str
    member_id: str = ""
    generation_id: int = -1
    """Generation of a classic group, or member epoch in a consumer group."""
    group_instance_id: str | None = None
    """None: a dynamic member."""

    def commit_fields(self) -> Body:
        """Fields of the member in an OffsetCommit."""
        return {
            "generationIdOrMemberEpoch": self.generation_id,
            "memberId": self.member_id,
            "groupInstanceId": self.group_instance_id,
        }


_COMMIT_BY_ID_VERSION = 10
Offsets: TypeAlias = Mapping[TopicPartition, int | OffsetAndMetadata]


def commit_offsets(identity: MemberIdentity, offsets: Offsets) -> Request:
    """Request an OffsetCommit; an administrator may commit if the group is Empty or does not exist."""
    topics = _by_topic(
        "partitions",
        ((partition, _commit(partition, offset)) for partition, offset in offsets.items()),
    )
    body = {"groupId": identity.group_id, **identity.commit_fields(), "topics": topics}
    return Request("OffsetCommit", 9, identity.group_id, body)


def reset_offsets(group_id: str, offsets: Offsets) -> Request:
    """Request a commit of an administrator whose records have a reset as the reason."""
    request = commit_offsets(MemberIdentity(group_id), offsets)
    return request._replace(body={**request.body, "isReset": True})


def restore_offsets(group_id: str, offsets: Offsets) -> Request:
    """Request a commit of an administrator whose records have a restore as the reason."""
    request = commit_offsets(MemberIdentity(group_id), offsets)
    return request._replace(body={**request.body, "isRestore": True})


def commit_by_id(
    identity: MemberIdentity, offsets: Offsets, topic_ids: Mapping[str, str]
) -> Request:
    """Request an OffsetCommit with topic ids; `topic_ids` has the id of each topic."""
    by_name = commit_offsets(identity, offsets)
    topics = [
        {"topicId": topic_ids[topic["name"]], "partitions": topic["partitions"]}
        for topic in by_name.body["topics"]
    ]
    return by_name._replace(version=_COMMIT_BY_ID_VERSION, body={**by_name.body, "topics": topics})


def results_by_id(body: Body, offsets: Offsets, topic_ids: Mapping[str, str]) -> PartitionResults:
    """Result of a commit by id for each partition."""
    names = {topic_id: name for name, topic_id in topic_ids.items()}
    topics = [{**topic, "name": names[topic["topicId"]]} for topic in body.get("topics", ())]
    return partition_results({**body, "topics": topics}, offsets)


def _commit(partition: TopicPartition, offset: int | OffsetAndMetadata) -> Body:
    # -1: no leader epoch.
    if isinstance(offset, int):
        offset = OffsetAndMetadata(offset, "", -1)
    return {
        "partitionIndex": partition.partition,
        "committedOffset": offset.offset,
        "committedLeaderEpoch": -1 if offset.leader_epoch is None else offset.leader_epoch,
        "committedMetadata": offset.metadata,
    }


def fetch_offsets(
    group_id: str, partitions: Collection[TopicPartition] | None, *, require_stable: bool = False
) -> Request:
    """Request an OffsetFetch of some partitions; None: all partitions with an offset."""
    topics = (
        None
        if partitions is None
        else _by_topic("partitionIndexes", ((p, p.partition) for p in partitions))
    )
    group = {"groupId": group_id, "memberId": None, "memberEpoch": -1, "topics": topics}
    return Request("OffsetFetch", 9, group_id, {"groups": [group], "requireStable": require_stable})


def fetched_offsets(body: Body) -> dict[TopicPartition, OffsetAndMetadata]:
    """Return the offsets of fetched_partitions without those below 0."""
    found = fetched_partitions(body)
    return {partition: offset for partition, offset in found.items() if offset is not None}


def fetched_partitions(body: Body) -> dict[TopicPartition, OffsetAndMetadata | None]:
    """Return the offsets in an OffsetFetch response, None for those below 0; partitions without an offset are left out.

    CoordinatorResponseError: of the response, of the group, or of a partition.
    """
    _raise_error(body)
    [group] = body["groups"]
    _raise_error(group)
    offsets = {}
    for topic in group["topics"]:
        for partition in topic["partitions"]:
            _raise_error(partition)
            offsets[TopicPartition(topic["name"], partition["partitionIndex"])] = _offset(partition)
    return offsets


def _raise_error(body: Body) -> None:
    error = error_in(body)
    if error is not None:
        raise error


def _offset(partition: Body) -> OffsetAndMetadata | None:
    offset, epoch = partition["committedOffset"], partition["committedLeaderEpoch"]
    return None if offset < 0 else OffsetAndMetadata(offset, partition["metadata"], epoch)


def delete_offsets(group_id: str, partitions: Collection[TopicPartition]) -> Request:
    """Request an OffsetDelete of partitions (KIP-496)."""
    topics = _by_topic("partitions", ((p, {"partitionIndex": p.partition}) for p in partitions))
    return Request("OffsetDelete", 0, group_id, {"groupId": group_id, "topics": topics})


def partition_results(body: Body, partitions: Iterable[TopicPartition]) -> PartitionResults:
    """Result of an OffsetCommit or OffsetDelete for each partition of the request."""
    codes = {
        TopicPartition(topic["name"], partition["partitionIndex"]): partition["errorCode"]
        for topic in body.get("topics", ())
        for partition in topic["partitions"]
    }
    errors = {one: _partition_error(codes.get(one)) for one in partitions}
    return PartitionResults(errors, error_in(body))


def _partition_error(code: int | None) -> ClientError | None:
    if code is None:
        return UnknownError("The response does not mention the partition.")
    return error_for(code) if code else None


def distinct_names(given: Iterable[str]) -> dict[str, None]:
    """Names in their order, each once. Raises TypeError: a single name, whose characters would be the names."""
    if isinstance(given, str):
        raise TypeError(f"{given!r} is a single name: give a list, [{given!r}]")
    return dict.fromkeys(given)


def _by_topic(field: str, entries: Iterable[tuple[TopicPartition, Any]]) -> list[Body]:
    topics = defaultdict(list)
    for partition, entry in entries:
        topics[partition.topic].append(entry)
    return [{"name": name, field: entries_of_topic} for name, entries_of_topic in topics.items()]
