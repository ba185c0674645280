"""Heartbeat, SyncGroup and LeaveGroup of the classic protocol to a consumer group.

Source: validateConsumerGroupMember with the checks around it, classicGroupHeartbeatToConsumerGroup,
classicGroupLeaveToConsumerGroup and classicGroupSyncToConsumerGroup in Kafka 4.4's GroupMetadataManager.

Stories: stories/migration/classic_refusals.py, stories/migration/classic_members.py, stories/migration/classic_endings.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.consumer.validation import known_member, known_static_member
from group_coordinator.core.migration.downgrade import remove_or_downgrade
from group_coordinator.core.migration.embedded_assignments import embedded_assignment
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    ReconciliationState,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import (
    Heartbeat,
    LeaveGroup,
    LeavingMember,
    RequestContext,
    SyncGroup,
)
from group_coordinator.core.model.responses import (
    HeartbeatResponse,
    LeaveGroupResponse,
    MemberResult,
    Reply,
    SyncGroupResponse,
)
from group_coordinator.core.model.timers import TimerKey, TimerKind, session_timer


def sender(
    membership: ConsumerGroup, member_id: str, group_instance_id: str | None, generation: int
) -> tuple[ConsumerMember, ClassicMetadata]:
    """Return the member of the classic protocol that sent a request. The member's generation is its epoch.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID (also for a member of the consumer protocol), FENCED_INSTANCE_ID, ILLEGAL_GENERATION.
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
    """Start a member's session timeout again: the member's own, not the group's."""
    update.arm(session_timer(member_id), session_timeout_ms)


def await_join(update: ConsumerUpdate, member: ConsumerMember) -> None:
    """Set the member's join timer, as it must join again. The timer runs from the first such response on."""
    key = TimerKey(TimerKind.MEMBER_JOIN, member.member_id)
    # Repeated heartbeats must not extend the time to join again.
    if key not in update.membership.timers:
        update.arm(key, max(0, member.metadata.rebalance_timeout_ms))


def heartbeat_to_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: Heartbeat,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Extend the session, and report that the member must join again.

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
    # Reasons to join again: a newer target, partitions to revoke, or all awaited partitions are
    # free.
    if member.epoch < membership.assignment_epoch:
        return True
    match member.current.state:
        case ReconciliationState.UNREVOKED_PARTITIONS:
            return True
        case ReconciliationState.UNRELEASED_PARTITIONS:
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


def leave_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: LeaveGroup,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Remove the members that exist. Each has its own result."""
    leaving: set[str] = set()
    results = []
    for identity in request.members:
        error = ErrorCode.NONE
        try:
            leaving.add(_leaving_member_id(membership, identity))
        except CoordinatorError as fault:
            error = fault.code
        results.append(MemberResult(identity.member_id, identity.group_instance_id, error))
    update = ConsumerUpdate(group, membership, context.now_ms, config, Reason.LEAVE)
    # Without a leaving member the group epoch must not grow.
    if leaving:
        remove_or_downgrade(update, sorted(leaving))
    answer = LeaveGroupResponse(ErrorCode.NONE, tuple(results))
    return update.decision([Reply(context.ticket, answer)])


def _leaving_member_id(membership: ConsumerGroup, identity: LeavingMember) -> str:
    instance_id = identity.group_instance_id
    if instance_id is None:
        return known_member(membership, identity.member_id).member_id
    # An instance id without a member id is an administrator's removal (KIP-345).
    member_id = identity.member_id or membership.static_members.get(instance_id, "")
    return known_static_member(membership, member_id, instance_id).member_id


def sync_with_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: SyncGroup,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Respond with the member's assigned partitions. Assignments in the request are ignored.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL.
    """
    member, classic = sender(
        membership, request.member_id, request.group_instance_id, request.generation
    )
    _check_protocol(request, classic)
    update = ConsumerUpdate(group, membership, context.now_ms, config, Reason.SYNC)
    if _has_new_target(membership, member):
        await_join(update, member)
        answer = SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
    else:
        update.cancel(TimerKey(TimerKind.MEMBER_SYNC, member.member_id))
        extend_session(update, member.member_id, classic.session_timeout_ms)
        assigned = {key: tuple(held) for key, held in member.current.assigned.items()}
        assignment = embedded_assignment(assigned, group.topics or {}, classic.protocols[0])
        answer = SyncGroupResponse(
            ErrorCode.NONE, request.protocol_type, request.protocol, assignment
        )
    return update.decision([Reply(context.ticket, answer)])


def _check_protocol(request: SyncGroup, classic: ClassicMetadata) -> None:
    # The JoinGroup response had the member's own first protocol. Null is not compared.
    pairs = (
        (request.protocol_type, CONSUMER_PROTOCOL_TYPE),
        (request.protocol, classic.protocols[0].name),
    )
    if any(asked is not None and asked != own for asked, own in pairs):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _has_new_target(membership: ConsumerGroup, member: ConsumerMember) -> bool:
    is_behind = membership.assignment_epoch > member.epoch
    # Revocation precedes a newer target.
    return is_behind and member.current.state is not ReconciliationState.UNREVOKED_PARTITIONS
