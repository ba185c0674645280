"""Checks of requests to consumer groups: heartbeats by their fields and the group's size, commits and fetches by member epoch.

Epochs are those of KIP-848; for commits they count for each partition (KIP-1251).
Source: throwIfConsumerGroupIsFull in Kafka 4.4's GroupMetadataManager; throwIfConsumerGroupHeartbeatRequestIsInvalid in Kafka 4.4's
GroupCoordinatorService; ConsumerGroup.validateOffsetCommit and validateOffsetFetch.
Stories: stories/consumer/consumer_size.py, stories/migration/classic_refusals.py, stories/consumer/validating.py.
Stories: stories/consumer/consumer_commits.py, stories/consumer/consumer_fetches.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.kafka_order import java_trimmed
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
from group_coordinator.core.model.requests import (
    MEMBER_EPOCHS_SINCE,
    TXN_MEMBER_EPOCHS_SINCE,
    ConsumerGroupHeartbeat,
    OffsetCommit,
    OffsetFetch,
    TxnOffsetCommit,
)
from group_coordinator.core.offsets.committing import EarlierEpoch


def known_consumer_group(group: Group, what: str = "Group") -> ConsumerGroup:
    """Return the membership of a consumer group. `what` is Kafka's word for a missing group.

    Raises CoordinatorError: GROUP_ID_NOT_FOUND.
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

    Raises CoordinatorError: UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if the instance id has another member id now.
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

    Raises CoordinatorError: GROUP_MAX_SIZE_REACHED.
    """
    membership = update.membership
    size = update.config.group_consumer_max_size
    is_static = membership.static_member_id(instance_id) is not None
    if len(membership.members) >= size and member_id not in membership.members and not is_static:
        raise CoordinatorError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size} members.",
        )


_USUAL_CHARACTERS = 8_192
_MOST_CHARACTERS = 16 * 1024 * 1024
"""Limit of the topic names of all members, which the group state has."""


def check_names(membership: ConsumerGroup, member_id: str, names: Sequence[str]) -> None:
    """Check the room for the topic names of a member. Raises CoordinatorError: GROUP_MAX_SIZE_REACHED."""
    characters = sum(map(len, names))
    # A shortcut for usual members, as the sum takes longer with each member.
    if characters > _USUAL_CHARACTERS:
        others = (each for each in membership.members.values() if each.member_id != member_id)
        characters += sum(len(name) for each in others for name in each.metadata.topic_names)
    if characters > _MOST_CHARACTERS:
        raise CoordinatorError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The topic names of all members have more than {_MOST_CHARACTERS} characters.",
        )


_CLIENTS_MAKE_IDS_SINCE = 1


def check_heartbeat(
    request: ConsumerGroupHeartbeat, version: int, config: CoordinatorConfig
) -> None:
    """Check the fields of a heartbeat in Kafka's order: the first fault is the error.

    Raises CoordinatorError: INVALID_REQUEST, UNSUPPORTED_ASSIGNOR.
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


_NO_EPOCH = -1


def check_commit(
    membership: ConsumerGroup, request: OffsetCommit, version: int
) -> EarlierEpoch | None:
    """Check a commit; return None if every partition may be committed.

    Raises CoordinatorError: UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a member of the
    classic protocol.
    """
    epoch = _epoch(request.generation)
    # An administrator may commit to a group without members.
    if epoch < 0 and not membership.members:
        return None
    member = known_member(membership, request.member_id)
    # An older version cannot name a member epoch, so its generation would be meaningless.
    if not member.uses_classic_protocol and version < MEMBER_EPOCHS_SINCE:
        raise CoordinatorError(ErrorCode.UNSUPPORTED_VERSION)
    return _earlier(member, epoch, _stale(member))


def check_txn_commit(
    membership: ConsumerGroup, request: TxnOffsetCommit, version: int
) -> EarlierEpoch | None:
    """Check a transactional commit like check_commit. It needs no member; before version 6 clients do not know member epochs.

    Raises CoordinatorError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a member of the classic protocol or an
    older version.
    """
    epoch = _epoch(request.generation)
    # Before KIP-447 producers committed without naming a member.
    anonymous = not request.member_id and request.group_instance_id is None
    if (epoch < 0 and not membership.members) or (epoch == _NO_EPOCH and anonymous):
        return None
    member = known_member(membership, request.member_id)
    knows_epochs = version >= TXN_MEMBER_EPOCHS_SINCE
    return _earlier(member, epoch, _stale(member) if knows_epochs else ErrorCode.ILLEGAL_GENERATION)


def check_fetch(membership: ConsumerGroup, request: OffsetFetch) -> None:
    """Check a fetch. Only the member's current epoch is valid.

    Raises CoordinatorError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a member of the classic protocol;
    UNKNOWN_SERVER_ERROR for an epoch without a member, as in Kafka.
    """
    epoch = _epoch(request.member_epoch)
    if request.member_id is None:
        if epoch < 0:
            return
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    member = known_member(membership, request.member_id)
    if epoch != member.epoch:
        raise CoordinatorError(_stale(member))


def _epoch(number: int | None) -> int:
    return _NO_EPOCH if number is None else number


def _stale(member: ConsumerMember) -> ErrorCode:
    if member.uses_classic_protocol:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.STALE_MEMBER_EPOCH


def _earlier(member: ConsumerMember, epoch: int, error: ErrorCode) -> EarlierEpoch | None:
    # A later epoch than the coordinator's own was never sent to a member.
    if epoch > member.epoch:
        raise CoordinatorError(error)
    return None if epoch == member.epoch else EarlierEpoch(member, epoch, error)
