"""SyncGroup 0-5: the leader sends the assignments, each member receives its own. Version 5 also checks the protocol.

Source: GroupMetadataManager.classicGroupSync in Kafka 4.4.
Stories: stories/classic/syncing.py.
"""

from __future__ import annotations

from group_coordinator.core.classic.generation import sync_answer
from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.migration.classic_join import sync_with_consumer_group
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import RequestContext, SyncGroup
from group_coordinator.core.model.responses import SyncGroupResponse
from group_coordinator.core.model.timers import SYNC_TIMER


def decide(
    group: Group, request: SyncGroup, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Keep the request pending until the leader's SyncGroup, or respond with the assignment in a Stable group.

    Raises CoordinatorError: INVALID_GROUP_ID, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL, REBALANCE_IN_PROGRESS.
    """
    _check_request(request, context.ticket.version)
    membership = group.membership
    if membership is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if isinstance(membership, ConsumerGroup):
        return sync_with_consumer_group(group, membership, request, context, config)
    member = _check(membership, request)
    if membership.state is ClassicState.PREPARING_REBALANCE:
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    rebalance = Rebalance(membership, context.now_ms, config, Reason.SYNC)
    rebalance.membership.pending_syncs.pop(member.member_id, None)
    if not rebalance.membership.pending_syncs:
        # All members have sent their SyncGroup: no member can miss the sync phase.
        rebalance.cancel(SYNC_TIMER)
    # The leader's assignment is known: no need to wait.
    if rebalance.membership.state is ClassicState.STABLE:
        rebalance.answer(context.ticket, sync_answer(rebalance.membership, member))
        return rebalance.decision()
    if member.awaiting_sync is not None:
        # Kafka drops the earlier request, as for JoinGroup; here it gets a response.
        rebalance.answer(member.awaiting_sync, SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS))
    rebalance.put(member.replace(awaiting_sync=context.ticket))
    if rebalance.membership.leader == member.member_id:
        rebalance.complete_sync(dict(request.assignments))
    return rebalance.decision()


def _check_request(request: SyncGroup, version: int) -> None:
    if request.lacks_protocol(version):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)


def _check(membership: ClassicGroup, request: SyncGroup) -> ClassicMember:
    member = membership.check_member(request.member_id, request.group_instance_id)
    if request.generation != membership.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    if _is_inconsistent(membership, request):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return member


def _is_inconsistent(membership: ClassicGroup, request: SyncGroup) -> bool:
    # Null in the request or in the group is not compared.
    pairs = (
        (request.protocol_type, membership.protocol_type),
        (request.protocol, membership.protocol),
    )
    return any(asked is not None and own is not None and asked != own for asked, own in pairs)
