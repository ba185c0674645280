"""Requests of classic members in a consumer group: JoinGroup, Heartbeat, SyncGroup and LeaveGroup.

A JoinGroup gets an immediate response, with the member epoch as the generation. The bytes of the member's first protocol have its
subscription and its owned partitions. There is no leader.

Source: classicGroupJoinToConsumerGroup, validateConsumerGroupMember with the checks around it, classicGroupHeartbeatToConsumerGroup,
classicGroupLeaveToConsumerGroup and classicGroupSyncToConsumerGroup in Kafka 4.4's GroupMetadataManager.
Stories: stories/migration/classic_members.py, stories/migration/classic_refusals.py, stories/migration/classic_endings.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.member_update import (
    replace_static_member,
    update_assignment,
    update_subscription,
)
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.consumer.validation import check_room, known_member, known_static_member
from group_coordinator.core.embedded_protocol import (
    MalformedProtocolError,
    Subscription,
    read_subscription,
)
from group_coordinator.core.migration.downgrade import (
    allows_mixed_groups,
    downgrade_by_replacement,
    embedded_assignment,
    may_downgrade_by_replacement,
    remove_or_downgrade,
    reported,
)
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    ConsumerMember,
    ReconciliationState,
    SubscriptionMetadata,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import (
    MEMBER_ID_REQUIRED_SINCE,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    RequestContext,
    SyncGroup,
)
from group_coordinator.core.model.responses import (
    HeartbeatResponse,
    JoinGroupResponse,
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

    Raises CoordinatorError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION.
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
    # Reasons: a newer target, partitions to revoke, or all awaited partitions are free.
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
    response = LeaveGroupResponse(ErrorCode.NONE, tuple(results))
    return update.decision([Reply(context.ticket, response)])


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

    Raises CoordinatorError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL.
    """
    member, classic = sender(
        membership, request.member_id, request.group_instance_id, request.generation
    )
    _check_protocol(request, classic)
    update = ConsumerUpdate(group, membership, context.now_ms, config, Reason.SYNC)
    is_behind = membership.assignment_epoch > member.epoch
    # Revocation precedes a newer target.
    if is_behind and member.current.state is not ReconciliationState.UNREVOKED_PARTITIONS:
        await_join(update, member)
        response = SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
    else:
        update.cancel(TimerKey(TimerKind.MEMBER_SYNC, member.member_id))
        extend_session(update, member.member_id, classic.session_timeout_ms)
        assigned = {key: tuple(held) for key, held in member.current.assigned.items()}
        assignment = embedded_assignment(assigned, group.topics or {}, classic.protocols[0])
        response = SyncGroupResponse(
            ErrorCode.NONE, request.protocol_type, request.protocol, assignment
        )
    return update.decision([Reply(context.ticket, response)])


def _check_protocol(request: SyncGroup, classic: ClassicMetadata) -> None:
    # The JoinGroup response had the member's own first protocol. Null is not compared.
    pairs = (
        (request.protocol_type, CONSUMER_PROTOCOL_TYPE),
        (request.protocol, classic.protocols[0].name),
    )
    if any(asked is not None and asked != own for asked, own in pairs):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


_NOT_GIVEN = -1
"""A rebalance timeout that counts as missing in Kafka; any other number is stored."""


def join_consumer_group(
    group: Group,
    membership: ConsumerGroup,
    request: JoinGroup,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Add, renew or reject a member. An error response does not have its member id."""
    update = ConsumerUpdate(group, membership, context.now_ms, config, Reason.JOIN)
    try:
        response = _join(update, request, context)
    except CoordinatorError as error:
        # An error discards the update: no record of it is written.
        response = JoinGroupResponse(error.code, "")
        return Decision([], [Reply(context.ticket, response)])
    return update.decision([Reply(context.ticket, response)])


def _join(update: ConsumerUpdate, request: JoinGroup, context: RequestContext) -> JoinGroupResponse:
    member_id = request.member_id or context.fresh_short_id
    _check(update, request, member_id)
    is_anonymous = not request.member_id and request.group_instance_id is None
    # As in a classic group, the id comes first, so that retries add no members (KIP-394).
    if is_anonymous and context.ticket.version >= MEMBER_ID_REQUIRED_SINCE:
        return JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, member_id)
    member = _member(update, request, member_id)
    subscription = _subscription(request)
    update.subscription_order[member_id] = subscription.topics
    metadata = _metadata_after(member.metadata, request, subscription, context)
    updated = _update(update, request, member, metadata, subscription)
    return JoinGroupResponse(
        ErrorCode.NONE, member_id, updated.epoch, CONSUMER_PROTOCOL_TYPE, request.protocols[0].name
    )


def _check(update: ConsumerUpdate, request: JoinGroup, member_id: str) -> None:
    if not allows_mixed_groups(update.config):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    check_room(update, member_id, request.group_instance_id)
    # Kafka counts a name that a member lists twice as two members' names: it may not be common then.
    counts, of_all = update.membership.classic_protocols, update.membership.classic_member_count
    has_common = any(counts.get(protocol.name, 0) == of_all for protocol in request.protocols)
    if request.protocol_type != CONSUMER_PROTOCOL_TYPE or not has_common:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _subscription(request: JoinGroup) -> Subscription:
    # The first protocol must be readable.
    try:
        return read_subscription(request.protocols[0].metadata)
    except MalformedProtocolError:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None


def _member(update: ConsumerUpdate, request: JoinGroup, member_id: str) -> ConsumerMember:
    instance_id = request.group_instance_id
    members = update.membership.members
    if instance_id is not None and request.member_id:
        return known_static_member(update.membership, member_id, instance_id)
    # A request without a member id and with a known instance id replaces that member.
    existing = _instance_before(update.membership, request)
    if existing is not None:
        return replace_static_member(update, existing, member_id)
    return members.get(member_id) or ConsumerMember(member_id)


def _instance_before(membership: ConsumerGroup, request: JoinGroup) -> ConsumerMember | None:
    if request.group_instance_id is None:
        return None
    return membership.static_member(request.group_instance_id)


def _metadata_after(
    old: SubscriptionMetadata,
    request: JoinGroup,
    subscription: Subscription,
    context: RequestContext,
) -> SubscriptionMetadata:
    has_timeout = request.rebalance_timeout_ms != _NOT_GIVEN
    instance_id = request.group_instance_id
    return SubscriptionMetadata(
        group_instance_id=old.group_instance_id if instance_id is None else instance_id,
        rack_id=subscription.rack_id or old.rack_id,
        client_id=context.client_id,
        client_host=context.client_host,
        topic_names=tuple(sorted(set(subscription.topics))),
        topic_regex=None,
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms if has_timeout else old.rebalance_timeout_ms
        ),
        server_assignor=old.server_assignor,
        classic=ClassicMetadata(request.session_timeout_ms, request.protocols),
    )


def _update(
    update: ConsumerUpdate,
    request: JoinGroup,
    member: ConsumerMember,
    metadata: SubscriptionMetadata,
    subscription: Subscription,
) -> ConsumerMember:
    owned = reported(subscription.owned, update.group.topics or {})
    replaced = _instance_before(update.membership, request)
    subscribed = update_subscription(update, member, metadata)
    # If it replaces the last member of the consumer protocol, the whole group becomes classic.
    if replaced is not None and may_downgrade_by_replacement(
        update.membership, replaced, update.config
    ):
        must_rebalance = update.membership.assignment_epoch < subscribed.epoch
        updated = (
            subscribed.member if must_rebalance else update_assignment(update, subscribed, owned)
        )
        downgrade_by_replacement(update, replaced, updated, must_rebalance=must_rebalance)
        return updated
    updated = update_assignment(update, subscribed, owned)
    # A JoinGroup ends the time to join again, and begins the time to fetch the assignment.
    update.cancel(TimerKey(TimerKind.MEMBER_JOIN, member.member_id))
    extend_session(update, member.member_id, request.session_timeout_ms)
    sync_timer = TimerKey(TimerKind.MEMBER_SYNC, member.member_id)
    update.arm(sync_timer, max(0, request.rebalance_timeout_ms))
    return updated
