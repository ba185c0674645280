"""OffsetCommit 1-10. Version 1 has a commit time, 2-4 a retention time (KIP-211), 9 member epochs, 10 topic ids (KIP-848).

Source: KafkaApis.handleOffsetCommitRequest (existence of topics) and OffsetMetadataManager.commitOffset in Kafka 4.4. Offsets are
stored unchecked: they may be outside the partition's log and may go back.
Stories: stories/offsets/commits.py, stories/consumer/consumer_commits.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer import validation
from group_coordinator.core.model.changes import (
    Change,
    Decision,
    MembershipReplaced,
    SessionRenewed,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import (
    MEMBER_EPOCHS_SINCE,
    TOPIC_IDS_SINCE,
    OffsetCommit,
    RequestContext,
)
from group_coordinator.core.model.responses import OffsetCommitResponse, Reply
from group_coordinator.core.offsets.committing import (
    CommitTerms,
    EarlierEpoch,
    check_no_group,
    commit_existing,
    existing_by_id,
    existing_by_name,
    merge,
)

_INT64_HALF = 2**63
_WITH_MEMBERS = (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE)


def decide(
    group: Group, request: OffsetCommit, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Store the offsets. An error is the result of every partition of the request."""
    version = context.ticket.version
    expire_timestamp_ms = _expire_timestamp(context.now_ms, request.retention_time_ms)
    terms = CommitTerms(context.now_ms, expire_timestamp_ms, reason=_reason(request))
    # The existence of topics is checked first: KafkaApis does it before the coordinator.
    find = existing_by_id if version >= TOPIC_IDS_SINCE else existing_by_name
    present, missing = find(group, request.topics, context.rights)
    records, results = commit_existing(
        group, present, terms, config, lambda: may_commit(group, request, version)
    )
    replies = [Reply(context.ticket, OffsetCommitResponse(merge(missing, results)))]
    if records is None:
        return Decision([], replies)
    return Decision(records, replies, _changes(group, request, context.now_ms))


def _reason(request: OffsetCommit) -> Reason:
    if request.is_restore:
        return Reason.OFFSET_RESTORED
    return Reason.OFFSET_RESET if request.is_reset else Reason.OFFSET_COMMIT


def may_commit(group: Group, request: OffsetCommit, version: int) -> EarlierEpoch | None:
    """Check the sender's right to commit. With an earlier member epoch only some partitions are allowed.

    Raises CoordinatorError: GROUP_ID_NOT_FOUND, ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, REBALANCE_IN_PROGRESS;
    in consumer groups also UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH.
    """
    membership = group.membership
    if not isinstance(membership, ClassicGroup):
        if membership is not None:
            return validation.check_commit(membership, request, version)
        check_no_group(request.generation, version, MEMBER_EPOCHS_SINCE)
        return None
    generation = request.generation
    # Same as names_epoch, inlined: most commits pass here.
    named = generation is not None and generation >= 0
    # An administrator, or a consumer that assigns partitions itself, commits without a member.
    if not named and membership.state is ClassicState.EMPTY:
        return None
    if not named and not request.member_id and request.group_instance_id is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    membership.check_member(request.member_id, request.group_instance_id)
    if request.generation != membership.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    # Members must not commit between two generations: their partitions may have changed.
    if membership.state is ClassicState.COMPLETING_REBALANCE:
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    return None


def _expire_timestamp(now_ms: int, retention_ms: int | None) -> int | None:
    # A sum beyond 64 bits wraps around as in Java: such an offset has expired already.
    if retention_ms is None:
        return None
    return (now_ms + retention_ms + _INT64_HALF) % (2 * _INT64_HALF) - _INT64_HALF


def _changes(group: Group, request: OffsetCommit, now_ms: int) -> tuple[Change, ...]:
    membership = group.membership
    if membership is None:
        # A commit to an unknown group makes it a simple group.
        return (MembershipReplaced(ClassicGroup(state_timestamp_ms=now_ms)),)
    if isinstance(membership, ClassicGroup) and membership.state in _WITH_MEMBERS:
        # Kafka counts a member's commit as a heartbeat, in classic groups only.
        return (SessionRenewed(request.member_id),)
    return ()
