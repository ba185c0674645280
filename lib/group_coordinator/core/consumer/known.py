"""Consumer groups and members that a request names, or Kafka's error for what is not there."""

from __future__ import annotations

from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group


def known_consumer_group(group: Group, what: str = "Group") -> ConsumerGroup:
    """The membership of a consumer group; `what` is Kafka's word for one that does not exist.

    Raises:
        CoordinatorError: GROUP_ID_NOT_FOUND.
    """
    if group.consumer is not None:
        return group.consumer
    message = (
        f"{what} {group.group_id} not found."
        if group.membership is None
        else f"Group {group.group_id} is not a consumer group."
    )
    raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def known_member(membership: ConsumerGroup, member_id: str) -> ConsumerMember:
    """The member with that id.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID.
    """
    member = membership.members.get(member_id)
    if member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member


def known_static_member(
    membership: ConsumerGroup, member_id: str, group_instance_id: str
) -> ConsumerMember:
    """The static member with that instance id.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID where it has another member id now.
    """
    member = membership.static_member(group_instance_id)
    if member is None:
        raise CoordinatorError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {group_instance_id} is unknown."
        )
    if member.member_id != member_id:
        raise CoordinatorError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {group_instance_id} was fenced by member "
            f"{member.member_id}.",
        )
    return member
