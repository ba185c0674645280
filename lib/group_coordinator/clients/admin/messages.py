"""DescribeGroups and DeleteGroups; bodies as Kafka's message schemas have them."""

from __future__ import annotations

from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    MemberDescription,
    authorized_operations,
)
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.errors import ClientError, CoordinatorResponseError, error_for
from group_coordinator.clients.member.classic_messages import assigned_partitions
from group_coordinator.clients.refusals import refusal

CONSUMER_PROTOCOL_TYPES = frozenset({"", "consumer"})
"""A simple group has no protocol type. Groups of other types (connect is one) are not groups of consumers."""


class NotAConsumerGroupError(ClientError):
    """The group belongs to another kind of client, such as Kafka Connect."""


def describe_group(group_id: str, *, include_authorized_operations: bool = False) -> Request:
    """A DescribeGroups of one group."""
    body = {
        "groups": [group_id],
        "includeAuthorizedOperations": include_authorized_operations,
    }
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
        authorized_operations=authorized_operations(group),
    )


def _member(member: Body) -> MemberDescription:
    return MemberDescription(
        member_id=member["memberId"],
        group_instance_id=member["groupInstanceId"],
        client_id=member["clientId"],
        host=member["clientHost"],
        assignment=assigned_partitions(member["memberAssignment"]),
    )


def delete_group(group_id: str) -> Request:
    """A DeleteGroups of one group."""
    return Request("DeleteGroups", 2, group_id, {"groupsNames": [group_id]})


def deletion_error(body: Body) -> CoordinatorResponseError | None:
    """The error in a DeleteGroups answer; None: the group is deleted."""
    error = refusal(body)
    if error is not None:
        return error
    [result] = body["results"]
    return error_for(result["errorCode"]) if result["errorCode"] else None
