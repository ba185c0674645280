"""The administrator's requests and what their answers say; bodies as Kafka's message schemas have them."""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin.descriptions import GroupDescription, MemberDescription
from group_coordinator.clients.results import PartitionResults
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.channel_errors import ClientError, NotAConsumerGroupError
from group_coordinator.clients.errors import CoordinatorResponseError, UnknownError, error_for
from group_coordinator.core.embedded_protocol import parse_assignment

Offsets: TypeAlias = Mapping[TopicPartition, int | OffsetAndMetadata]
CONSUMER_PROTOCOL_TYPES = frozenset({"", "consumer"})
"""A simple group has no protocol type; all else (connect, for one) is no business of a consumer's administrator."""


def refusal(body: Body) -> CoordinatorResponseError | None:
    """The error of a whole answer; an event that could not be read is answered with nothing else."""
    code = body.get("errorCode", 0)
    return error_for(code, body.get("errorMessage")) if code else None


def raise_refusal(body: Body) -> None:
    """Raise the error of a whole answer, if it has one."""
    error = refusal(body)
    if error is not None:
        raise error


def describe_group(group_id: str) -> Request:
    """A DescribeGroups of one group."""
    body = {"groups": [group_id], "includeAuthorizedOperations": False}
    return Request("DescribeGroups", 6, group_id, body)


def description(group_id: str, body: Body) -> GroupDescription:
    """The group in a DescribeGroups answer."""
    error: ClientError | None = refusal(body)
    if error is not None:
        return GroupDescription(group_id, state="Dead", error=error)
    [group] = body["groups"]
    if group["errorCode"]:
        error = error_for(group["errorCode"], group.get("errorMessage"))
    elif group["protocolType"] not in CONSUMER_PROTOCOL_TYPES:
        kind = group["protocolType"]
        error = NotAConsumerGroupError(f"GroupId {group_id} is not a consumer group ({kind}).")
    return GroupDescription(
        group_id=group_id,
        state=group["groupState"],
        protocol_type=group["protocolType"],
        partition_assignor=group["protocolData"],
        members=() if error else tuple(_member(member) for member in group["members"]),
        error=error,
    )


def _member(member: Body) -> MemberDescription:
    return MemberDescription(
        member_id=member["memberId"],
        group_instance_id=member["groupInstanceId"],
        client_id=member["clientId"],
        host=member["clientHost"],
        assignment=assigned_partitions(b64decode(member["memberAssignment"])),
    )


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions in the bytes that a leader wrote for a member; unreadable bytes are no partitions."""
    return tuple(
        TopicPartition(topic, number)
        for topic, numbers in parse_assignment(assignment) or ()
        for number in numbers
    )


def delete_group(group_id: str) -> Request:
    """A DeleteGroups of one group."""
    return Request("DeleteGroups", 2, group_id, {"groupsNames": [group_id]})


def deletion_error(body: Body) -> CoordinatorResponseError | None:
    """The error in a DeleteGroups answer, None where the group was deleted."""
    error = refusal(body)
    if error is not None:
        return error
    [result] = body["results"]
    return error_for(result["errorCode"]) if result["errorCode"] else None


def fetch_offsets(group_id: str, partitions: Collection[TopicPartition] | None) -> Request:
    """An OffsetFetch of some partitions, None for all that the group has."""
    topics = (
        None
        if partitions is None
        else _by_topic("partitionIndexes", ((p, p.partition) for p in partitions))
    )
    group = {"groupId": group_id, "memberId": None, "memberEpoch": -1, "topics": topics}
    return Request("OffsetFetch", 9, group_id, {"groups": [group], "requireStable": False})


def fetched_offsets(body: Body) -> dict[TopicPartition, OffsetAndMetadata]:
    """The offsets in an OffsetFetch answer; a partition without one is left out.

    Raises:
        CoordinatorResponseError: the error of the group, or of the first partition that has one.
    """
    raise_refusal(body)
    [group] = body["groups"]
    raise_refusal(group)
    offsets = {}
    for topic in group["topics"]:
        for partition in topic["partitions"]:
            raise_refusal(partition)
            if partition["committedOffset"] >= 0:
                offsets[TopicPartition(topic["name"], partition["partitionIndex"])] = (
                    OffsetAndMetadata(
                        partition["committedOffset"],
                        partition["metadata"],
                        partition["committedLeaderEpoch"],
                    )
                )
    return offsets


def commit_offsets(group_id: str, offsets: Offsets, identity: Mapping[str, Any]) -> Request:
    """An OffsetCommit; `identity` says who commits: a member, or an administrator."""
    topics = _by_topic(
        "partitions",
        ((partition, _commit(partition, offset)) for partition, offset in offsets.items()),
    )
    return Request("OffsetCommit", 9, group_id, {"groupId": group_id, **identity, "topics": topics})


ADMINISTRATOR: Mapping[str, Any] = {
    "generationIdOrMemberEpoch": -1,
    "memberId": "",
    "groupInstanceId": None,
}
"""Commits without being a member; the group must be Empty, or not be there yet."""


def _commit(partition: TopicPartition, offset: int | OffsetAndMetadata) -> Body:
    if isinstance(offset, int):
        offset = OffsetAndMetadata(offset, "", -1)
    return {
        "partitionIndex": partition.partition,
        "committedOffset": offset.offset,
        "committedLeaderEpoch": -1 if offset.leader_epoch is None else offset.leader_epoch,
        "committedMetadata": offset.metadata,
    }


def delete_offsets(group_id: str, partitions: Collection[TopicPartition]) -> Request:
    """An OffsetDelete (KIP-496)."""
    topics = _by_topic("partitions", ((p, {"partitionIndex": p.partition}) for p in partitions))
    return Request("OffsetDelete", 0, group_id, {"groupId": group_id, "topics": topics})


def partition_results(body: Body, partitions: Iterable[TopicPartition]) -> PartitionResults:
    """The outcome of an OffsetCommit or OffsetDelete for each partition that was asked for."""
    codes = {
        TopicPartition(topic["name"], partition["partitionIndex"]): partition["errorCode"]
        for topic in body.get("topics", ())
        for partition in topic["partitions"]
    }
    errors = {one: _partition_error(codes.get(one)) for one in partitions}
    return PartitionResults(errors, refusal(body))


def _partition_error(code: int | None) -> CoordinatorResponseError | None:
    if code is None:
        return UnknownError("The answer does not mention the partition.")
    return error_for(code) if code else None


def _by_topic(field: str, entries: Iterable[tuple[TopicPartition, Any]]) -> list[Body]:
    topics = defaultdict(list)
    for partition, entry in entries:
        topics[partition.topic].append(entry)
    return [{"name": name, field: entries_of_topic} for name, entries_of_topic in topics.items()]
