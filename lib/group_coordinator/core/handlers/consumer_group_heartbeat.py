"""ConsumerGroupHeartbeat 0-1 (KIP-848). Version 1 requires member ids made by the client, and has regular expressions.

Source: consumerGroupHeartbeat and consumerGroupLeave in GroupMetadataManager of Kafka 4.4.
Stories: stories/consumer/validating.py, stories/consumer/static_consumers.py, stories/consumer/instance_ids.py, stories/consumer/consumer_size.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.member_update import replace_static_member, update_member
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.consumer.validation import (
    check_heartbeat,
    check_names,
    check_room,
    known_consumer_group,
    known_static_member,
)
from group_coordinator.core.group_configs import heartbeat_interval_ms, session_timeout_ms
from group_coordinator.core.migration.downgrade import remove_or_downgrade
from group_coordinator.core.migration.upgrade import abandoned_upgrade, upgrade
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    JOIN_EPOCH,
    STATIC_LEFT_EPOCH,
    ConsumerMember,
    OwnedPartitions,
    SubscriptionMetadata,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import CurrentRecord, Reason
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    RequestContext,
    TopicPartitions,
)
from group_coordinator.core.model.responses import ConsumerGroupHeartbeatResponse, Reply
from group_coordinator.core.model.timers import session_timer


def decide(
    group: Group,
    request: ConsumerGroupHeartbeat,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    """Let a member join, stay or leave.

    Raises CoordinatorError: INVALID_REQUEST, UNSUPPORTED_ASSIGNOR, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
    FENCED_MEMBER_EPOCH, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, INVALID_REGULAR_EXPRESSION.
    """
    check_heartbeat(request, context.ticket.version, config)
    if request.member_epoch < JOIN_EPOCH:
        return _leave(group, request, context, config)
    try:
        return _join_or_stay(group, request, context, config)
    except CoordinatorError as error:
        # Only a join can begin an upgrade, whose pending requests are answered before the error.
        if request.member_epoch != JOIN_EPOCH:
            raise
        response = ConsumerGroupHeartbeatResponse(error.code, error.message)
        return abandoned_upgrade(group, config, error, Reply(context.ticket, response))


def _join_or_stay(
    group: Group,
    request: ConsumerGroupHeartbeat,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    is_join = request.member_epoch == JOIN_EPOCH
    reason = Reason.JOIN if is_join else Reason.HEARTBEAT
    update, replies = _begun_update(group, context, config, reason, is_join=is_join)
    check_room(update, request.member_id, request.group_instance_id)
    # Only version 0 comes without an id: the coordinator makes it.
    member_id = request.member_id or context.fresh_short_id
    member = _member(update, request, member_id)
    check_names(update.membership, member_id, request.topic_names or ())
    metadata = _metadata_after(member.metadata, request, context)
    if request.topic_names is not None:
        # The assignor breaks ties by the client's order, which the log does not have.
        update.subscription_order[member_id] = request.topic_names
    updated = update_member(update, member, metadata, request.owned)
    # Each heartbeat starts the session again, also one that changes nothing.
    update.arm(session_timer(member_id), session_timeout_ms(group, config))
    # Kafka sends an assignment only if the client cannot know it: saves bytes in most heartbeats.
    before, assigned = member.current.assigned, updated.current.assigned
    must_send = is_join or _is_full(request) or before != assigned
    response = ConsumerGroupHeartbeatResponse(
        error=ErrorCode.NONE,
        error_message=None,
        member_id=member_id,
        member_epoch=updated.epoch,
        heartbeat_interval_ms=heartbeat_interval_ms(group, config),
        assignment={key: tuple(held) for key, held in assigned.items()} if must_send else None,
    )
    return update.decision([*replies, Reply(context.ticket, response)])


def _begun_update(
    group: Group,
    context: RequestContext,
    config: CoordinatorConfig,
    reason: Reason,
    *,
    is_join: bool,
) -> tuple[ConsumerUpdate, list[Reply]]:
    # A join turns a missing or a classic group into a consumer group.
    membership = group.membership
    if isinstance(membership, ConsumerGroup) or not is_join:
        known = known_consumer_group(group, "Consumer group")
        return ConsumerUpdate(group, known, context.now_ms, config, reason), []
    if membership is None:
        return ConsumerUpdate(group, ConsumerGroup(), context.now_ms, config, reason), []
    upgraded = upgrade(group, membership, context.now_ms, config)
    update = ConsumerUpdate(group, upgraded.membership, context.now_ms, config, reason)
    update.records += upgraded.records
    update.changes += upgraded.changes
    update.subscription_order |= upgraded.subscription_order
    return update, upgraded.replies


def _member(
    update: ConsumerUpdate, request: ConsumerGroupHeartbeat, member_id: str
) -> ConsumerMember:
    if request.group_instance_id is not None:
        return _static_member(update, request, member_id, request.group_instance_id)
    member = update.membership.members.get(member_id)
    if member is None and request.member_epoch != JOIN_EPOCH:
        raise _unknown_member(member_id, update.group)
    if member is None:
        return ConsumerMember(member_id)
    _check_epoch(member, request.member_epoch, request.owned)
    return member


def _static_member(
    update: ConsumerUpdate, request: ConsumerGroupHeartbeat, member_id: str, instance_id: str
) -> ConsumerMember:
    if request.member_epoch != JOIN_EPOCH:
        member = known_static_member(update.membership, member_id, instance_id)
        _check_epoch(member, request.member_epoch, request.owned)
        return member
    # A join with a known instance id is a restart of that client.
    existing = update.membership.static_member(instance_id)
    if existing is None:
        return update.membership.members.get(member_id) or ConsumerMember(member_id)
    # The former member must have left temporarily first (KIP-848), or be of the classic protocol.
    if existing.epoch != STATIC_LEFT_EPOCH and not existing.uses_classic_protocol:
        raise CoordinatorError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group "
            f"because the instance id is owned by {existing.member_id} member.",
        )
    return replace_static_member(update, existing, member_id)


def _unknown_member(member_id: str, group: Group) -> CoordinatorError:
    return CoordinatorError(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {member_id} is not a member of group {group.group_id}.",
    )


def _check_epoch(
    member: ConsumerMember, epoch: int, owned: tuple[TopicPartitions, ...] | None
) -> None:
    if epoch in (JOIN_EPOCH, member.epoch):
        return
    # After a lost response a member sends the epoch before. It may not own more than it has.
    is_retry = epoch < member.epoch and epoch == member.current.previous_epoch
    if not is_retry or not _is_part(owned, member.current.assigned):
        which = "smaller" if epoch < member.epoch else "greater"
        raise CoordinatorError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The consumer group member has a {which} member epoch ({epoch}) than the one known by the group "
            f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
        )


def _is_part(owned: tuple[TopicPartitions, ...] | None, assigned: OwnedPartitions) -> bool:
    return owned is not None and all(
        (entry.topic_id or "") in assigned
        and assigned[entry.topic_id or ""].keys() >= set(entry.partitions)
        for entry in owned
    )


def _metadata_after(
    old: SubscriptionMetadata, request: ConsumerGroupHeartbeat, context: RequestContext
) -> SubscriptionMetadata:
    # Fields that the request leaves out stay unchanged.
    names, regex = request.topic_names, request.topic_regex
    return SubscriptionMetadata(
        group_instance_id=request.group_instance_id or old.group_instance_id,
        rack_id=request.rack_id or old.rack_id,
        client_id=context.client_id,
        client_host=context.client_host,
        topic_names=old.topic_names if names is None else tuple(sorted(set(names))),
        topic_regex=old.topic_regex if regex is None else regex or None,
        rebalance_timeout_ms=(
            old.rebalance_timeout_ms
            if request.rebalance_timeout_ms is None
            else request.rebalance_timeout_ms
        ),
        server_assignor=request.server_assignor or old.server_assignor,
        classic=None,
    )


def _is_full(request: ConsumerGroupHeartbeat) -> bool:
    # A full request follows a lost response: its response is full as well.
    subscribes = request.topic_names is not None or request.topic_regex is not None
    return request.rebalance_timeout_ms is not None and subscribes and request.owned is not None


def _leave(
    group: Group,
    request: ConsumerGroupHeartbeat,
    context: RequestContext,
    config: CoordinatorConfig,
) -> Decision:
    membership = known_consumer_group(group)
    update = ConsumerUpdate(group, membership, context.now_ms, config, Reason.LEAVE)
    if request.group_instance_id is not None:
        member = known_static_member(membership, request.member_id, request.group_instance_id)
    elif request.member_id in membership.members:
        member = membership.members[request.member_id]
    else:
        raise _unknown_member(request.member_id, group)
    if request.member_epoch == STATIC_LEFT_EPOCH:
        _leave_for_a_while(update, member)
    else:
        remove_or_downgrade(update, [member.member_id])
    response = ConsumerGroupHeartbeatResponse(
        ErrorCode.NONE, None, request.member_id, request.member_epoch
    )
    return update.decision([Reply(context.ticket, response)])


def _leave_for_a_while(update: ConsumerUpdate, member: ConsumerMember) -> None:
    # The member keeps its partitions until its session ends, for a member with its instance id.
    current = member.current
    kept = {key: dict.fromkeys(held, 0) for key, held in current.assigned.items()}
    left = current.replace(epoch=STATIC_LEFT_EPOCH, assigned=kept, pending_revocation={})
    update.records.append(CurrentRecord(member.member_id, left, update.reason))
