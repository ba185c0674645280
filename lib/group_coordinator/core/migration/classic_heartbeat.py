"""Heartbeat of a member of the classic protocol to a consumer group.

Source: classicGroupHeartbeatToConsumerGroup in Kafka 4.4's GroupMetadataManager.

Told in: stories/migration/classic_members.py, stories/migration/classic_refusals.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.migration.classic_sender import await_join, extend_session, sender
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember, MemberState
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import Heartbeat, RequestContext
from group_coordinator.core.model.responses import HeartbeatResponse, Reply


def heartbeat_to_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: Heartbeat,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Re-arm the session, and tell the member when it must join again.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION.
    """
    member, classic = sender(
        membership, request.member_id, request.group_instance_id, request.generation
    )
    update = ConsumerUpdate(group, membership, context.now_ms, config, Reason.HEARTBEAT)
    extend_session(update, member.member_id, classic.session_timeout_ms)
    error = ErrorCode.NONE
    if _must_rejoin(membership, member):
        await_join(update, member)
        error = ErrorCode.REBALANCE_IN_PROGRESS
    return update.decision([Reply(context.ticket, HeartbeatResponse(error))])


def _must_rejoin(membership: ConsumerGroup, member: ConsumerMember) -> bool:
    """There is a newer target, there is something to give back, or all that the member waited for is free."""
    if member.epoch < membership.assignment_epoch:
        return True
    match member.current.state:
        case MemberState.UNREVOKED_PARTITIONS:
            return True
        case MemberState.UNRELEASED_PARTITIONS:
            return not _waits_for_others(membership, member)
        case _:
            return False


def _waits_for_others(membership: ConsumerGroup, member: ConsumerMember) -> bool:
    assigned = member.current.assigned
    return any(
        partition not in assigned.get(topic_id, {})
        and membership.owner_of(topic_id, partition) is not None
        for topic_id, partitions in membership.target_of(member.member_id).items()
        for partition in partitions
    )
