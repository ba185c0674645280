"""SyncGroup of a member of the classic protocol to a consumer group: it fetches what the group has assigned to it.

Source: classicGroupSyncToConsumerGroup in Kafka 4.4's GroupMetadataManager.

Told in: stories/migration/classic_members.py, stories/migration/classic_refusals.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.migration.classic_sender import await_join, extend_session, sender
from group_coordinator.core.migration.embedded_assignments import embedded_assignment
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    MemberState,
)
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import RequestContext, SyncGroup
from group_coordinator.core.model.responses import Reply, SyncGroupResponse
from group_coordinator.core.model.timers import TimerKey, TimerKind


def sync_with_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: SyncGroup,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Answer with the partitions that the member has; assignments in the request are ignored.

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
    """JoinGroup answered with the member's own first protocol; null is not compared."""
    pairs = (
        (request.protocol_type, CONSUMER_PROTOCOL_TYPE),
        (request.protocol, classic.protocols[0].name),
    )
    if any(asked is not None and asked != own for asked, own in pairs):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _has_new_target(membership: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the member must join again for a newer target; partitions to give back come first."""
    is_behind = membership.assignment_epoch > member.epoch
    return is_behind and member.current.state is not MemberState.UNREVOKED_PARTITIONS
