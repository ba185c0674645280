"""Who in a consumer group sends a request of the classic protocol, and whether it has to join again.

Source: validateConsumerGroupMember and the checks around it in Kafka 4.4's GroupMetadataManager.

Told in: stories/migration/classic_refusals.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.known import known_member, known_static_member
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ClassicMetadata, ConsumerMember
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.timers import TimerKey, TimerKind, session_timer


def sender(
    membership: ConsumerGroup, member_id: str, group_instance_id: str | None, generation: int
) -> tuple[ConsumerMember, ClassicMetadata]:
    """The member of the classic protocol that sent a request; its epoch is what it knows as the generation.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID (also of the consumer protocol), FENCED_INSTANCE_ID, ILLEGAL_GENERATION.
    """
    if group_instance_id is None:
        member = known_member(membership, member_id)
    else:
        member = known_static_member(membership, member_id, group_instance_id)
    classic = member.metadata.classic
    if classic is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if member.epoch != generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    return member, classic


def extend_session(update: ConsumerUpdate, member_id: str, session_timeout_ms: int) -> None:
    """Give a member its whole session timeout from now on: the one that the member chose, not the group's."""
    update.arm(session_timer(member_id), session_timeout_ms)


def await_join(update: ConsumerUpdate, member: ConsumerMember) -> None:
    """The member is told to join again: its rebalance timeout runs from the first time on."""
    key = TimerKey(TimerKind.MEMBER_JOIN, member.member_id)
    if key not in update.membership.timers:
        update.arm(key, max(0, member.metadata.rebalance_timeout_ms))
