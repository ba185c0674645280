"""Heartbeat 0-4: extends a member's session and reports a rebalance.

Source: GroupMetadataManager.classicGroupHeartbeat in Kafka 4.4.
Stories: stories/classic/sessions.py.
"""

from __future__ import annotations

from group_coordinator.core.migration.classic_join import heartbeat_to_consumer_group
from group_coordinator.core.model.changes import Decision, SessionRenewed
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Heartbeat, RequestContext
from group_coordinator.core.model.responses import HeartbeatResponse, Reply

_ALIVE = HeartbeatResponse(ErrorCode.NONE)
_REJOIN = HeartbeatResponse(ErrorCode.REBALANCE_IN_PROGRESS)


def decide(
    group: Group, request: Heartbeat, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Start the session timeout again.

    Raises CoordinatorError: INVALID_GROUP_ID, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION.
    """
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    membership = group.membership
    if not isinstance(membership, ClassicGroup):
        if membership is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return heartbeat_to_consumer_group(group, membership, request, context, config)
    membership.check_member(request.member_id, request.group_instance_id)
    if request.generation != membership.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    # The session is extended in either case: the member is alive.
    rebalancing = membership.state is ClassicState.PREPARING_REBALANCE
    reply = Reply(context.ticket, _REJOIN if rebalancing else _ALIVE)
    return Decision([], [reply], (SessionRenewed(request.member_id),))
