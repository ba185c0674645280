"""TxnOffsetCommit 0-6: offsets that count once their transaction is committed (KIP-98, KIP-447).

From version 6 on topics have ids, and clients know member epochs (KIP-1319).

Source: KafkaApis.handleTxnOffsetCommitRequest and OffsetMetadataManager.commitTransactionalOffset in Kafka 4.4. The transaction
coordinator has checked that the transaction is open; a commit that arrives too late fails (core/offsets/pending.py).
Stories: stories/offsets/transactions.py, stories/consumer/consumer_commits.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer import validation
from group_coordinator.core.model.changes import Change, Decision, MembershipReplaced
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    TXN_MEMBER_EPOCHS_SINCE,
    TXN_TOPIC_IDS_SINCE,
    RequestContext,
    TxnOffsetCommit,
)
from group_coordinator.core.model.responses import Reply, TxnOffsetCommitResponse
from group_coordinator.core.offsets.committing import (
    CommitTerms,
    EarlierEpoch,
    check_no_group,
    commit_existing,
    existing_by_id,
    existing_by_name,
    merge,
    names_epoch,
    topic_error,
)
from group_coordinator.core.offsets.pending import check_in_time

_NO_EPOCH = -1


def decide(
    group: Group, request: TxnOffsetCommit, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Store the pending offsets of the producer. An error is the result of every partition of the request."""
    version = context.ticket.version
    since = request.markers_end_offset
    terms = CommitTerms(
        context.now_ms,
        producer_id=request.producer_id,
        markers_end_offset=since,
        producer_epoch=None if since is None else request.producer_epoch,
    )
    find = existing_by_id if version >= TXN_TOPIC_IDS_SINCE else existing_by_name
    present, missing = find(group, request.topics, context.rights)
    records, results = commit_existing(
        group, present, terms, config, lambda: may_commit(group, request, context)
    )
    # Kafka fails when it appends the batch, after all other checks: it writes no batch of a producer
    # without an epoch. A request without a producer is in no transaction.
    can_be_written = request.producer_id is None or request.producer_epoch != _NO_EPOCH
    if records and not can_be_written:
        records = None
        results = [topic_error(topic, ErrorCode.UNKNOWN_SERVER_ERROR) for topic in present]
    replies = [Reply(context.ticket, TxnOffsetCommitResponse(merge(missing, results)))]
    if records is None:
        return Decision([], replies)
    changes: tuple[Change, ...] = ()
    if group.membership is None:
        changes = (MembershipReplaced(ClassicGroup(state_timestamp_ms=context.now_ms)),)
    return Decision(records, replies, changes)


def may_commit(
    group: Group, request: TxnOffsetCommit, context: RequestContext
) -> EarlierEpoch | None:
    """Check the sender's right to commit. Unlike outside transactions, every state and a sender without a member are allowed.

    Raises CoordinatorError: INVALID_GROUP_ID, INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH, ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID; from version 6 on also GROUP_ID_NOT_FOUND, STALE_MEMBER_EPOCH.
    """
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    # Kafka too checks the transaction before the group.
    check_in_time(group, request, context.now_ms)
    membership, version = group.membership, context.ticket.version
    if isinstance(membership, ClassicGroup):
        _check_classic_commit(membership, request)
        return None
    if membership is not None:
        return validation.check_txn_commit(membership, request, version)
    check_no_group(request.generation, version, TXN_MEMBER_EPOCHS_SINCE)
    return None


def _check_classic_commit(membership: ClassicGroup, request: TxnOffsetCommit) -> None:
    anonymous = not request.member_id and request.group_instance_id is None
    named = names_epoch(request.generation)
    if not named and (anonymous or membership.state is ClassicState.EMPTY):
        return
    membership.check_member(request.member_id, request.group_instance_id)
    if request.generation != membership.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
