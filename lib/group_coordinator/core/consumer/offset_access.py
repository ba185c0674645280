"""Access checks of commits and fetches in a consumer group, by member epoch (KIP-848) and partition (KIP-1251).

Source: ConsumerGroup.validateOffsetCommit and validateOffsetFetch in Kafka 4.4.

Stories: stories/consumer/consumer_commits.py, stories/consumer/consumer_fetches.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.validation import known_member
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.requests import (
    MEMBER_EPOCHS_SINCE,
    TXN_MEMBER_EPOCHS_SINCE,
    OffsetCommit,
    OffsetFetch,
    TxnOffsetCommit,
)
from group_coordinator.core.offsets.earlier_epoch import EarlierEpoch

_NO_EPOCH = -1


def check_commit(
    membership: ConsumerGroup, request: OffsetCommit, version: int
) -> EarlierEpoch | None:
    """Check a commit; return None if every partition may be committed.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a member of the classic
            protocol.
    """
    epoch = _epoch(request.generation)
    # An administrator may commit to a group without members.
    if epoch < 0 and not membership.members:
        return None
    member = known_member(membership, request.member_id)
    # An older version cannot name a member epoch, so its generation would be meaningless.
    if not member.uses_classic_protocol and version < MEMBER_EPOCHS_SINCE:
        raise CoordinatorError(ErrorCode.UNSUPPORTED_VERSION)
    return _earlier(member, epoch, _stale(member))


def check_txn_commit(
    membership: ConsumerGroup, request: TxnOffsetCommit, version: int
) -> EarlierEpoch | None:
    """Check a transactional commit like check_commit. It needs no member; before version 6 clients do not know member epochs.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a member of the classic protocol or an older
            version.
    """
    epoch = _epoch(request.generation)
    # Before KIP-447 producers committed without naming a member.
    anonymous = not request.member_id and request.group_instance_id is None
    if (epoch < 0 and not membership.members) or (epoch == _NO_EPOCH and anonymous):
        return None
    member = known_member(membership, request.member_id)
    knows_epochs = version >= TXN_MEMBER_EPOCHS_SINCE
    return _earlier(member, epoch, _stale(member) if knows_epochs else ErrorCode.ILLEGAL_GENERATION)


def check_fetch(membership: ConsumerGroup, request: OffsetFetch) -> None:
    """Check a fetch. Only the member's current epoch is valid.

    Raises:
        CoordinatorError: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; ILLEGAL_GENERATION for a member of the classic protocol;
            UNKNOWN_SERVER_ERROR for an epoch without a member, as in Kafka.
    """
    epoch = _epoch(request.member_epoch)
    if request.member_id is None:
        if epoch < 0:
            return
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    member = known_member(membership, request.member_id)
    if epoch != member.epoch:
        raise CoordinatorError(_stale(member))


def _epoch(number: int | None) -> int:
    return _NO_EPOCH if number is None else number


def _stale(member: ConsumerMember) -> ErrorCode:
    if member.uses_classic_protocol:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.STALE_MEMBER_EPOCH


def _earlier(member: ConsumerMember, epoch: int, error: ErrorCode) -> EarlierEpoch | None:
    # A later epoch than the coordinator's own was never sent to a member.
    if epoch > member.epoch:
        raise CoordinatorError(error)
    return None if epoch == member.epoch else EarlierEpoch(member, epoch, error)
