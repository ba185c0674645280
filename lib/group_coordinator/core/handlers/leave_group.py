"""LeaveGroup 0-5. Up to version 2 one member leaves, from 3 several, also static members by instance id alone (KIP-345).

Source: GroupMetadataManager.classicGroupLeave in Kafka 4.4.
Stories: stories/classic/leaving.py.
"""

from __future__ import annotations

from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.migration.classic_join import leave_consumer_group
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import LeaveGroup, LeavingMember, RequestContext
from group_coordinator.core.model.responses import LeaveGroupResponse, MemberResult, Reply


def decide(
    group: Group, request: LeaveGroup, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Remove the members. Each has its own result; the error of the response is NONE. Raises CoordinatorError: INVALID_GROUP_ID."""
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    membership = group.membership
    if membership is None:
        return Decision([], [Reply(context.ticket, unknown_group(request))])
    if isinstance(membership, ConsumerGroup):
        return leave_consumer_group(group, membership, request, context, config)
    rebalance = Rebalance(membership, context.now_ms, config, Reason.LEAVE)
    results = tuple(_remove(rebalance, identity) for identity in request.members)
    if any(result.error is ErrorCode.NONE for result in results):
        # A leave during a join phase may complete it; in other phases it begins a rebalance.
        if rebalance.membership.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
            rebalance.prepare_rebalance()
        else:
            rebalance.maybe_complete_join()
    rebalance.answer(context.ticket, LeaveGroupResponse(ErrorCode.NONE, results))
    return rebalance.decision()


def _remove(rebalance: Rebalance, identity: LeavingMember) -> MemberResult:
    try:
        rebalance.remove_member(_leaving_member_id(rebalance, identity))
    except CoordinatorError as error:
        return MemberResult(identity.member_id, identity.group_instance_id, error.code)
    return MemberResult(identity.member_id, identity.group_instance_id, ErrorCode.NONE)


def _leaving_member_id(rebalance: Rebalance, identity: LeavingMember) -> str:
    membership = rebalance.membership
    if not identity.member_id:
        instance_id = identity.group_instance_id
        member_id = membership.static_member_id(instance_id) if instance_id is not None else None
        if member_id is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member_id
    # A pending member is no member yet, but may leave.
    if identity.member_id not in membership.pending_joins:
        membership.check_member(identity.member_id, identity.group_instance_id)
    return identity.member_id


def unknown_group(request: LeaveGroup) -> LeaveGroupResponse:
    """Return the response for an unknown group: an error for each member, not for the whole request."""
    return LeaveGroupResponse(
        ErrorCode.NONE,
        tuple(
            MemberResult(member.member_id, member.group_instance_id, ErrorCode.UNKNOWN_MEMBER_ID)
            for member in request.members
        ),
    )
