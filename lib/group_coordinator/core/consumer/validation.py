"""Checks of requests about consumer groups: existence of group and member, the group's size, the fields of a heartbeat.

Source: throwIfConsumerGroupIsFull in Kafka 4.4's GroupMetadataManager; throwIfConsumerGroupHeartbeatRequestIsInvalid in Kafka 4.4's
GroupCoordinatorService.

Stories: stories/consumer/consumer_size.py, stories/migration/classic_refusals.py, stories/consumer/validating.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.java_text import java_trimmed
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    JOIN_EPOCH,
    LEFT_EPOCH,
    STATIC_LEFT_EPOCH,
    ConsumerMember,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import ConsumerGroupHeartbeat


def known_consumer_group(group: Group, what: str = "Group") -> ConsumerGroup:
    """Return the membership of a consumer group. `what` is Kafka's word for a missing group.

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
    member = membership.members.get(member_id)
    if member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member


def known_static_member(
    membership: ConsumerGroup, member_id: str, group_instance_id: str
) -> ConsumerMember:
    """Return the static member with an instance id.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if the instance id has another member id now.
    """
    member = membership.static_member(group_instance_id)
    if member is None:
        raise CoordinatorError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {group_instance_id} is unknown."
        )
    # Another client with the same instance id has joined since.
    if member.member_id != member_id:
        raise CoordinatorError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {group_instance_id} was fenced by member "
            f"{member.member_id}.",
        )
    return member


def check_room(update: ConsumerUpdate, member_id: str, instance_id: str | None) -> None:
    """Check the group's maximum size. A member that takes the place of a static member adds none.

    Raises:
        CoordinatorError: GROUP_MAX_SIZE_REACHED.
    """
    membership = update.membership
    size = update.config.group_consumer_max_size
    is_known = member_id in membership.members or (instance_id or "") in membership.static_members
    if len(membership.members) >= size and not is_known:
        raise CoordinatorError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size} members.",
        )


_CLIENTS_MAKE_IDS_SINCE = 1


def check_heartbeat(
    request: ConsumerGroupHeartbeat, version: int, config: CoordinatorConfig
) -> None:
    """Check the fields of a heartbeat in Kafka's order: the first fault is the error.

    Raises:
        CoordinatorError: INVALID_REQUEST, UNSUPPORTED_ASSIGNOR.
    """
    epoch = request.member_epoch
    # In version 0 the coordinator makes the id of a new member.
    needs_id = version >= _CLIENTS_MAKE_IDS_SINCE or epoch > 0 or epoch == LEFT_EPOCH
    _check_text("MemberId", request.member_id if needs_id else None)
    _check_text("GroupId", request.group_id)
    _check_text("InstanceId", request.group_instance_id)
    _check_text("RackId", request.rack_id)
    if epoch == JOIN_EPOCH:
        _check_join(request)
    elif epoch == STATIC_LEFT_EPOCH and request.group_instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEFT_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    assignor = request.server_assignor
    if assignor is not None and assignor not in config.assignors:
        supported = ", ".join(config.assignors)
        raise CoordinatorError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {assignor} is not supported. Supported assignors: {supported}.",
        )


def _check_join(request: ConsumerGroupHeartbeat) -> None:
    if request.rebalance_timeout_ms is None:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    # A new member cannot own partitions: it has lost them with its former epoch.
    if request.owned is None or request.owned:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.topic_names is None and request.topic_regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def _check_text(name: str, text: str | None) -> None:
    if text is not None and not java_trimmed(text):
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, message)
