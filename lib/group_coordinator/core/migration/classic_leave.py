"""LeaveGroup to a consumer group: all named members leave with one new epoch, whatever protocol they speak.

Source: classicGroupLeaveToConsumerGroup in Kafka 4.4's GroupMetadataManager.

Told in: stories/migration/classic_endings.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.known import known_member, known_static_member
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.migration.downgrade import remove_or_downgrade
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import LeaveGroup, MemberIdentity, RequestContext
from group_coordinator.core.model.responses import LeaveGroupResponse, MemberResult, Reply


def leave_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: LeaveGroup,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Remove the members that are there; each has its own result."""
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
    if leaving:
        remove_or_downgrade(update, sorted(leaving))
    answer = LeaveGroupResponse(ErrorCode.NONE, tuple(results))
    return update.decision([Reply(context.ticket, answer)])


def _leaving_member_id(membership: ConsumerGroup, identity: MemberIdentity) -> str:
    """An empty member id with an instance id is an administrator's removal (KIP-345)."""
    instance_id = identity.group_instance_id
    if instance_id is None:
        return known_member(membership, identity.member_id).member_id
    member_id = identity.member_id or membership.static_members.get(instance_id, "")
    return known_static_member(membership, member_id, instance_id).member_id
