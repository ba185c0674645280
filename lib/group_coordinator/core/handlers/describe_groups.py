"""DescribeGroups 0-6 of a group. For an unknown group version 6 has an error, older versions the state Dead.

A consumer group is unknown here: ConsumerGroupDescribe describes it.

Source: GroupMetadataManager.describeGroups and ClassicGroupMember.describe in Kafka 4.4.
Stories: stories/classic/descriptions.py, stories/consumer/consumer_fetches.py.
"""

from __future__ import annotations

from group_coordinator.core.acls import operations_on
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import DescribeGroup, RequestContext
from group_coordinator.core.model.responses import DescribedMember, DescribeGroupResponse, Reply

_NOT_FOUND_SINCE = 6


def decide(
    group: Group,
    request: DescribeGroup,
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001 - one signature for all handlers
) -> Decision:
    """Describe the group. Nothing changes."""
    if group.classic is not None:
        response = _described(request.group_id, group.classic)
    else:
        why = "not found" if group.membership is None else "is not a classic group"
        response = _unknown(request.group_id, context.ticket.version, why)
    if request.asks_for_operations and response.error is ErrorCode.NONE:
        response = response.replace(operations=operations_on(group.group_id, context.rights))
    return Decision([], [Reply(context.ticket, response)])


def _unknown(group_id: str, version: int, why: str) -> DescribeGroupResponse:
    is_old = version < _NOT_FOUND_SINCE
    return DescribeGroupResponse(
        error=ErrorCode.NONE if is_old else ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=None if is_old else f"Group {group_id} {why}.",
        group_id=group_id,
        state=ClassicState.DEAD,
    )


def _described(group_id: str, membership: ClassicGroup) -> DescribeGroupResponse:
    stable = membership.state is ClassicState.STABLE
    members = []
    for _, member in sorted(membership.members.items()):
        entry = member.protocol(membership.protocol)
        members.append(
            DescribedMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                # Only a Stable group shows metadata: a rebalance may still change the protocol.
                metadata=entry.metadata if stable and entry else b"",
                assignment=member.assignment,
            )
        )
    return DescribeGroupResponse(
        error=ErrorCode.NONE,
        error_message=None,
        group_id=group_id,
        state=membership.state,
        protocol_type=membership.protocol_type or "",
        protocol=(membership.protocol or "") if stable else "",
        members=tuple(members),
    )
