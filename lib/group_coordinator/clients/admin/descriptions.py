"""Groups and members as the admin client returns them, and the requests that describe, delete and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka import TopicPartition
from kafka.admin import ACLOperation

from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import (
    ClientError,
    CoordinatorResponseError,
    NotAConsumerGroupError,
    UnknownError,
    error_for,
    error_in,
)
from group_coordinator.clients.member.classic import assigned_partitions
from group_coordinator.clients.results import MemberResults, MemberToRemove
from group_coordinator.core.model.errors import ErrorCode

CONSUMER_PROTOCOL_TYPES = frozenset({"", "consumer"})
"""Protocol types of consumers' groups; a simple group has none. Groups of other types (connect is one) are not listed."""


def describe_group(group_id: str, *, include_authorized_operations: bool = False) -> Request:
    """Request a DescribeGroups of a group."""
    body = {"groups": [group_id], "includeAuthorizedOperations": include_authorized_operations}
    return Request("DescribeGroups", 6, group_id, body)


def description(group_id: str, body: Body) -> GroupDescription:
    """Group in a DescribeGroups response."""
    error: ClientError | None = error_in(body)
    if error is not None:
        return GroupDescription(group_id, state="Dead", error=error)
    [group] = body["groups"]
    if group["errorCode"]:
        error = error_for(group["errorCode"], group.get("errorMessage"))
    # As in Kafka's admin client, groups of other programs are an error here.
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
    """Request the deletion of a single group."""
    return Request("DeleteGroups", 2, group_id, {"groupsNames": [group_id]})


def deletion_error(body: Body) -> CoordinatorResponseError | None:
    """Error of a DeleteGroups response; None: the group is deleted."""
    error = error_in(body)
    if error is not None:
        return error
    [result] = body["results"]
    return error_for(result["errorCode"]) if result["errorCode"] else None


_NOT_ASKED_FOR = -(2**31)
_FIRST_BIT = 3
"""First number of an operation; lower numbers are values of filters."""


@dataclass(frozen=True, slots=True)
class GroupListing:
    """Group in the list of the tables."""

    group_id: str
    group_type: str
    """classic or consumer."""
    state: str
    protocol_type: str

    @property
    def type(self) -> str:
        """Group type under confluent-kafka's name, equal to `group_type`."""
        return self.group_type

    @property
    def is_simple_consumer_group(self) -> bool:
        """The group only stores offsets, and has never had members."""
        return not self.protocol_type


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """Member of a living group; in a classic group the assignment is empty unless the group is Stable."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...] = ()
    """In a consumer group: with the partitions that the member must still revoke."""
    target_assignment: tuple[TopicPartition, ...] = ()
    """In consumer groups only."""
    member_epoch: int | None = None
    """None: a member of a classic group."""
    upgraded: bool | None = None
    """The member of a consumer group uses the consumer protocol; None: a member of a classic group."""


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """Group as the coordinator describes it; a group that does not exist has the state Dead and an error."""

    group_id: str
    state: str
    protocol_type: str = ""
    partition_assignor: str = ""
    members: tuple[MemberDescription, ...] = ()
    error: ClientError | None = None
    group_type: str = "classic"
    """classic or consumer."""
    group_epoch: int | None = None
    """None: a classic group."""
    target_assignment_epoch: int | None = None
    """The group epoch of the members' target assignments; None: a classic group."""
    authorized_operations: frozenset[ACLOperation] | None = None
    """Operations that the client's user may do on the group; None: the request did not include them."""

    @property
    def type(self) -> str:
        """Group type under confluent-kafka's name, equal to `group_type`."""
        return self.group_type

    @property
    def is_simple_consumer_group(self) -> bool:
        """The group only stores offsets, and has never had members."""
        return not self.protocol_type


def authorized_operations(group: Body) -> frozenset[ACLOperation] | None:
    """Operations of a described group, from a bit for each."""
    bits = group.get("authorizedOperations", _NOT_ASKED_FOR)
    # Kafka's value for a response without operations.
    if bits == _NOT_ASKED_FOR:
        return None
    known = [operation for operation in ACLOperation if operation >= _FIRST_BIT]
    return frozenset(operation for operation in known if bits & 1 << operation)


_VERSION = 1
_CONSUMER = "consumer"
_UPGRADED = {0: False, 1: True}
"""By Kafka's member type: 0 is classic, 1 is consumer; -1 is unknown."""
_ANOTHER_KIND = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})


def describe_consumer_group(
    group_id: str, *, include_authorized_operations: bool = False
) -> Request:
    """Request a ConsumerGroupDescribe of a group."""
    body = {"groupIds": [group_id], "includeAuthorizedOperations": include_authorized_operations}
    return Request("ConsumerGroupDescribe", _VERSION, group_id, body)


def consumer_description(group_id: str, body: Body) -> GroupDescription | None:
    """Group in a ConsumerGroupDescribe response; None: it is no consumer group, but DescribeGroups may know it."""
    # The response to an unreadable event has no groups.
    [group] = body.get("groups", [{}])
    error = error_in(body) or error_in(group)
    if error is not None and error.code in _ANOTHER_KIND:
        return None
    if error is not None:
        return GroupDescription(group_id, state="Dead", error=error)
    return GroupDescription(
        group_id,
        group["groupState"],
        protocol_type=_CONSUMER,
        partition_assignor=group["assignorName"],
        members=tuple(_consumer_member(member) for member in group["members"]),
        group_type=_CONSUMER,
        group_epoch=group["groupEpoch"],
        target_assignment_epoch=group["assignmentEpoch"],
        authorized_operations=authorized_operations(group),
    )


def _consumer_member(member: Body) -> MemberDescription:
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


_LEAVE_VERSION = 5
_DEFAULT_REASON = "member was removed by an admin"
"""Reason of Kafka's own client."""
_REASON_LENGTH = 255
"""Limit of brokers; Kafka's own client cuts the text too."""


def remove_members(group_id: str, members: Sequence[MemberToRemove], reason: str) -> Request:
    """Request a LeaveGroup of several members; an empty reason is replaced by Kafka's."""
    entries = [
        {
            "memberId": member.member_id,
            "groupInstanceId": member.group_instance_id,
            "reason": (reason or _DEFAULT_REASON)[:_REASON_LENGTH],
        }
        for member in members
    ]
    return Request(
        "LeaveGroup", _LEAVE_VERSION, group_id, {"groupId": group_id, "members": entries}
    )


def removal_results(body: Body, members: Sequence[MemberToRemove]) -> MemberResults:
    """Result for each member in a LeaveGroup response."""
    # Results are matched by the members' names, not by their order.
    codes = {
        MemberToRemove(member["memberId"], member["groupInstanceId"]): member["errorCode"]
        for member in body.get("members", ())
    }
    return MemberResults({one: _member_error(codes.get(one)) for one in members}, error_in(body))


def members_of(group: GroupDescription) -> list[MemberToRemove]:
    """All members as Kafka's own client names them: static members by instance id, so a replacement leaves too."""
    return [
        MemberToRemove(member.member_id)
        if member.group_instance_id is None
        else MemberToRemove(group_instance_id=member.group_instance_id)
        for member in group.members
    ]


def _member_error(code: int | None) -> ClientError | None:
    if code is None:
        return UnknownError("The response does not mention the member.")
    return error_for(code) if code else None
