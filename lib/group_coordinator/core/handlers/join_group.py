"""JoinGroup 0-9. Version 4 makes dynamic members join again with an id; 5 has static members, 9 skipAssignment.

Source: GroupMetadataManager.classicGroupJoin in Kafka 4.4; KIP-134 (initial delay), KIP-345 (static members), KIP-394
(MEMBER_ID_REQUIRED), KIP-814 (skipAssignment).
Stories: stories/classic/joining.py, stories/classic/protocols.py, stories/classic/static_members.py, stories/classic/group_size.py.
"""

from __future__ import annotations

from group_coordinator.core.classic.generation import join_answer
from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.migration.classic_join import join_consumer_group
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason, group_tombstones
from group_coordinator.core.model.requests import (
    MEMBER_ID_REQUIRED_SINCE,
    JoinGroup,
    RequestContext,
)
from group_coordinator.core.model.responses import JoinGroupResponse
from group_coordinator.core.model.timers import session_timer

_SKIP_ASSIGNMENT_SINCE = 9
_USUAL_BYTES = 2_048
_MOST_BYTES = 16 * 1024 * 1024
"""Limit of the metadata of all members, which the group state has. Kafka cannot store a group of more than 1 MiB: no SyncGroup succeeds."""


def decide(
    group: Group, request: JoinGroup, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Add, renew or reject a member. The request is pending until the join phase ends.

    Raises CoordinatorError: INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT, UNKNOWN_MEMBER_ID, INCONSISTENT_GROUP_PROTOCOL,
    FENCED_INSTANCE_ID.
    """
    _check_request(request, config)
    membership = group.membership
    if membership is None:
        return _join_unknown_group(request, context, config)
    if isinstance(membership, ConsumerGroup):
        if membership.members:
            return join_consumer_group(group, membership, request, context, config)
        # Its offsets stay. Kafka drops the group without a record even if the join fails; here it stays.
        created = _join_unknown_group(request, context, config)
        return created.replace(
            records=[*group_tombstones(membership, Reason.JOIN), *created.records]
        )
    rebalance = Rebalance(membership, context.now_ms, config, Reason.JOIN)
    if not _has_room(rebalance.membership, request.member_id, config.group_max_size):
        # Kafka removes even a known member that no longer has room.
        rebalance.remove_member(request.member_id)
        rebalance.answer(context.ticket, JoinGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, ""))
        return rebalance.decision()
    _join(rebalance, request, context)
    return rebalance.decision()


def _check_request(request: JoinGroup, config: CoordinatorConfig) -> None:
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    least_ms, most_ms = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
    if not least_ms <= request.session_timeout_ms <= most_ms:
        raise CoordinatorError(ErrorCode.INVALID_SESSION_TIMEOUT)


def _join_unknown_group(
    request: JoinGroup, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    if request.member_id:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    # The first join creates the group even if it fails itself; the record makes the group durable.
    created = ClassicGroup(state_timestamp_ms=context.now_ms)
    rebalance = Rebalance(created, context.now_ms, config, Reason.JOIN)
    rebalance.write_group({})
    try:
        _join(rebalance, request, context)
    except CoordinatorError as error:
        rebalance.answer(context.ticket, JoinGroupResponse(error.code, request.member_id))
    return rebalance.decision()


def _has_room(membership: ClassicGroup, member_id: str, group_max_size: int) -> bool:
    match membership.state:
        case ClassicState.PREPARING_REBALANCE:
            # Joined members count: the last to join again are rejected (group.max.size).
            member = membership.members.get(member_id)
            is_waiting = member is not None and member.awaiting_join is not None
            return is_waiting or membership.index.joined < group_max_size
        case ClassicState.COMPLETING_REBALANCE | ClassicState.STABLE:
            return member_id in membership.members or len(membership.members) < group_max_size
        case _:
            return True


def _join(rebalance: Rebalance, request: JoinGroup, context: RequestContext) -> None:
    # A member without a common protocol could never be in a generation with the others.
    names = {protocol.name for protocol in request.protocols}
    if not rebalance.membership.supports_protocols(request.protocol_type, names):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not _fits(rebalance.membership, request):
        raise CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED)
    if request.member_id:
        _join_known_id(rebalance, request, context)
    elif request.group_instance_id is not None:
        _join_static(rebalance, request, context)
    elif context.ticket.version >= MEMBER_ID_REQUIRED_SINCE:
        _require_member_id(rebalance, request, context)
    else:
        _add(rebalance, request, context, f"{context.client_id}-{context.fresh_id}")


def _fits(membership: ClassicGroup, request: JoinGroup) -> bool:
    own = _bytes_of(request)
    # A shortcut for usual members, as the sum takes longer with each member.
    return (
        own <= _USUAL_BYTES
        or own
        + sum(
            _bytes_of(member)
            for member_id, member in membership.members.items()
            if member_id != request.member_id
        )
        <= _MOST_BYTES
    )


def _bytes_of(member: ClassicMember | JoinGroup) -> int:
    return sum(len(protocol.metadata) for protocol in member.protocols)


def _require_member_id(rebalance: Rebalance, request: JoinGroup, context: RequestContext) -> None:
    # The id stays pending until the client joins with it, so that retries add no members (KIP-394).
    member_id = f"{context.client_id}-{context.fresh_id}"
    rebalance.membership.pending_joins.add(member_id)
    rebalance.arm(session_timer(member_id), request.session_timeout_ms)
    rebalance.answer(context.ticket, JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, member_id))


def _add(rebalance: Rebalance, request: JoinGroup, context: RequestContext, member_id: str) -> None:
    member = ClassicMember(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=context.client_id,
        client_host=context.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocols=request.protocols,
        is_new=True,
        awaiting_join=context.ticket,
    )
    rebalance.add_member(member, request.protocol_type)
    rebalance.rebalance_or_complete_join()


def _join_known_id(rebalance: Rebalance, request: JoinGroup, context: RequestContext) -> None:
    membership = rebalance.membership
    if request.member_id in membership.pending_joins:
        if request.group_instance_id is not None:
            # An IllegalStateException in Kafka: only dynamic members have pending ids.
            rebalance.answer(context.ticket, JoinGroupResponse(ErrorCode.UNKNOWN_SERVER_ERROR, ""))
        else:
            _add(rebalance, request, context, request.member_id)
        return
    member = membership.check_member(request.member_id, request.group_instance_id)
    if _may_stay(membership, member, request):
        rebalance.answer(context.ticket, join_answer(rebalance.membership, member.member_id))
        return
    if member.awaiting_join is not None:
        # Kafka drops the earlier request, as its connection is gone. Here it gets a response.
        replaced = JoinGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        rebalance.answer(member.awaiting_join, replaced)
    rebalance.put(_renewed(member, request, context))
    rebalance.rebalance_or_complete_join()


def _may_stay(membership: ClassicGroup, member: ClassicMember, request: JoinGroup) -> bool:
    # An unchanged member lost a response, or only requests its generation: no rebalance.
    unchanged = member.protocols == request.protocols
    if membership.state is ClassicState.COMPLETING_REBALANCE:
        return unchanged
    # A leader of a Stable group joins to assign again, for example after a topic got partitions.
    is_leader = member.member_id == membership.leader
    return membership.state is ClassicState.STABLE and unchanged and not is_leader


def _renewed(member: ClassicMember, request: JoinGroup, context: RequestContext) -> ClassicMember:
    return member.replace(
        protocols=request.protocols,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        awaiting_join=context.ticket,
    )


def _join_static(rebalance: Rebalance, request: JoinGroup, context: RequestContext) -> None:
    membership = rebalance.membership
    member_id = f"{request.group_instance_id}-{context.fresh_id}"
    old_member_id = membership.static_member_id(request.group_instance_id or "")
    if old_member_id is None:
        _add(rebalance, request, context, member_id)
        return
    # Replacing the member also replaces the leader's id, and older clients need the old one.
    previous_leader = membership.leader
    replaced = rebalance.replace_static_member(membership.members[old_member_id], member_id)
    member = rebalance.put(_renewed(replaced, request, context))
    match membership.state:
        # The new client's protocols may differ: another elected protocol needs a rebalance.
        case ClassicState.STABLE if membership.select_protocol() == membership.protocol:
            _keep_generation(rebalance, member, context, previous_leader)
        case ClassicState.STABLE | ClassicState.COMPLETING_REBALANCE:
            # The leader may know the old id already, and would not assign partitions to the new id.
            rebalance.prepare_rebalance()
        case _:
            rebalance.maybe_complete_join()


def _keep_generation(
    rebalance: Rebalance,
    member: ClassicMember,
    context: RequestContext,
    previous_leader: str | None,
) -> None:
    # A static member with a new id and no other change needs no rebalance (KIP-345).
    rebalance.put(member.replace(awaiting_join=None))
    rebalance.write_group(
        {key: entry.assignment for key, entry in rebalance.membership.members.items()}
    )
    response = join_answer(rebalance.membership, member.member_id)
    if context.ticket.version >= _SKIP_ASSIGNMENT_SINCE:
        response = response.replace(skip_assignment=rebalance.membership.leader == member.member_id)
    else:
        # Older clients would assign as the named leader, so it has the old id (KAFKA-13435).
        response = response.replace(leader=previous_leader or "", members=())
    rebalance.answer(context.ticket, response)
