"""ConsumerGroupDescribe (KIP-848): the request, and groups and members from its answer."""

from __future__ import annotations

from kafka import TopicPartition

from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    MemberDescription,
    authorized_operations,
)
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.refusals import refusal
from group_coordinator.core.model.errors import ErrorCode

_VERSION = 1
_CONSUMER = "consumer"
_UPGRADED = {0: False, 1: True}
"""By Kafka's member type: 0 is classic, 1 is consumer; -1 is unknown."""
_ANOTHER_KIND = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})


def describe_consumer_group(
    group_id: str, *, include_authorized_operations: bool = False
) -> Request:
    """A ConsumerGroupDescribe of one group."""
    body = {
        "groupIds": [group_id],
        "includeAuthorizedOperations": include_authorized_operations,
    }
    return Request("ConsumerGroupDescribe", _VERSION, group_id, body)


def consumer_description(group_id: str, body: Body) -> GroupDescription | None:
    """The group in a ConsumerGroupDescribe answer; None: it is not a consumer group; DescribeGroups may know it."""
    [group] = body.get("groups", [{}])
    error = refusal(body) or refusal(group)
    if error is not None and error.code in _ANOTHER_KIND:
        return None
    if error is not None:
        return GroupDescription(group_id, state="Dead", error=error)
    return GroupDescription(
        group_id,
        group["groupState"],
        protocol_type=_CONSUMER,
        partition_assignor=group["assignorName"],
        members=tuple(_member(member) for member in group["members"]),
        group_type=_CONSUMER,
        group_epoch=group["groupEpoch"],
        target_assignment_epoch=group["assignmentEpoch"],
        authorized_operations=authorized_operations(group),
    )


def _member(member: Body) -> MemberDescription:
    return MemberDescription(
        member_id=member["memberId"],
        group_instance_id=member["instanceId"],
        client_id=member["clientId"],
        host=member["clientHost"],
        assignment=_partitions(member["assignment"]),
        target_assignment=_partitions(member["targetAssignment"]),
        member_epoch=member["memberEpoch"],
        upgraded=_UPGRADED.get(member["memberType"]),
    )


def _partitions(assignment: Body) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic["topicName"], number)
        for topic in assignment["topicPartitions"]
        for number in topic["partitions"]
    )
