"""What a member's request brings about in its consumer group: new epoch, new targets, a step towards the member's own.

The same for members of either protocol; in the order of consumerGroupHeartbeat in Kafka 4.3's GroupMetadataManager.

Told in: stories/consumer/subscribing.py, stories/consumer/epochs.py.
"""

from __future__ import annotations

from group_coordinator.core.assignors import ASSIGNORS
from group_coordinator.core.assignors.spec import PartitionAssignorError
from group_coordinator.core.consumer.reconciliation import Goal, reconcile
from group_coordinator.core.consumer.regexes import METADATA_REFRESH_MS, RegexChange, change_regex
from group_coordinator.core.consumer.subscriptions import (
    ids_of,
    metadata_hash,
    names_after_update,
    topic_names_of,
    type_after_update,
)
from group_coordinator.core.consumer.target_assignment import (
    assign,
    members_after,
    preferred_assignor,
    target_records,
)
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.group_configs import assignment_interval_ms
from group_coordinator.core.kafka_order.member_order import consumer_group_order
from group_coordinator.core.model.changes import MetadataDeadlineSet, RebalanceTimerSet
from group_coordinator.core.model.consumer_member import (
    Assignment,
    ConsumerMember,
    GroupEpoch,
    MemberState,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    TargetRecord,
)
from group_coordinator.core.model.requests import TopicPartitions
from group_coordinator.core.model.timers import TimerKey, TimerKind
from group_coordinator.core.model.tombstones import member_tombstones
from group_coordinator.core.value import Value


class MemberChange(Value, frozen=True):
    """A member with new metadata, and what they mean for the group."""

    before: ConsumerMember
    member: ConsumerMember
    epoch: int
    """The group epoch from now on."""
    is_subscription_new: bool
    refreshes: bool
    """The group's topics have been looked at."""


def update_member(
    update: ConsumerUpdate,
    member: ConsumerMember,
    metadata: SubscriptionMetadata,
    owned: tuple[TopicPartitions, ...] | None,
) -> ConsumerMember:
    """Take a member's metadata, and bring group and member as far as can be; the member as it is then.

    `owned` is what the client reports to have, None if it does not say.

    Raises:
        CoordinatorError: INVALID_REGULAR_EXPRESSION, FENCED_MEMBER_EPOCH.
    """
    return advance_member(update, take_metadata(update, member, metadata), owned)


def take_metadata(
    update: ConsumerUpdate, member: ConsumerMember, metadata: SubscriptionMetadata
) -> MemberChange:
    """Log a member's new metadata, and the group epoch that they bring.

    Raises:
        CoordinatorError: INVALID_REGULAR_EXPRESSION.
    """
    updated = member.replace(metadata=metadata)
    if metadata != member.metadata:
        update.records.append(MemberRecord(member.member_id, metadata, update.reason))
    names_changed = metadata.topic_names != member.metadata.topic_names
    change = change_regex(update, member, updated)
    must_bump = names_changed or change is RegexChange.CHANGED_AND_RESOLVED
    epoch = update.membership.epoch
    refreshes = must_bump or update.now_ms >= update.membership.metadata_deadline_ms
    if refreshes:
        epoch = _refresh_epoch(update, member, updated, must_bump=must_bump)
    is_subscription_new = names_changed or change is not RegexChange.NONE
    return MemberChange(member, updated, epoch, is_subscription_new, refreshes)


def advance_member(
    update: ConsumerUpdate, change: MemberChange, owned: tuple[TopicPartitions, ...] | None
) -> ConsumerMember:
    """Compute new targets if they are due, and bring the member as far towards its own as can be.

    Raises:
        CoordinatorError: FENCED_MEMBER_EPOCH, UNKNOWN_SERVER_ERROR.
    """
    updated = change.member
    target_epoch, target = _target(update, change)
    if not change.is_subscription_new and updated.is_reconciled_to(target_epoch):
        return updated
    membership = update.membership
    names = topic_names_of(membership, updated.metadata)
    goal = Goal(
        target_epoch,
        target,
        names,
        ids_of(update.group, names),
        change.is_subscription_new,
        owned,
        lambda topic_id, partition: membership.owner_of(topic_id, partition) is not None,
    )
    return _progress(update, updated, goal)


def replace_static_member(
    update: ConsumerUpdate, old: ConsumerMember, member_id: str
) -> ConsumerMember:
    """A static member comes back under another id: all that it had is the new id's, at epoch 0."""
    new = ConsumerMember(member_id, old.metadata, old.current.replace(epoch=0, previous_epoch=0))
    target = update.membership.target_of(old.member_id)
    update.cancel_timers_of(old.member_id)
    update.records += member_tombstones(old.member_id, update.reason)
    update.records += [
        MemberRecord(member_id, new.metadata, update.reason),
        TargetRecord(member_id, target, update.reason),
        CurrentRecord(member_id, new.current, update.reason),
    ]
    return new


def _refresh_epoch(
    update: ConsumerUpdate, old: ConsumerMember, new: ConsumerMember, *, must_bump: bool
) -> int:
    """The group epoch, one more if the member's topics, or what is known of the group's topics, have changed."""
    membership = update.membership
    names = names_after_update(membership, old.metadata, new.metadata)
    new_hash = metadata_hash(update.group, names)
    epoch = membership.epoch
    if must_bump or new_hash != membership.metadata_hash:
        epoch += 1
        update.records.append(GroupEpochRecord(GroupEpoch(epoch, new_hash), update.reason))
    # Kafka notes the time in an object that the records of a new, or of an upgraded, group replace.
    if update.group.consumer is not None:
        update.changes.append(MetadataDeadlineSet(update.now_ms + METADATA_REFRESH_MS))
    return epoch


def _target(update: ConsumerUpdate, change: MemberChange) -> tuple[int, Assignment]:
    """The assignment epoch and the member's target at it: new ones if they are due."""
    updated, epoch = change.member, change.epoch
    membership = update.membership
    if membership.assignment_epoch >= epoch or not _may_assign(update):
        instance_id = updated.group_instance_id
        member_id = updated.member_id
        if instance_id is not None:
            member_id = membership.static_members.get(instance_id, member_id)
        return membership.assignment_epoch, membership.target_of(member_id)
    # An upgrade has its members in Kafka's order.
    is_upgrade = update.group.consumer is None
    present = list(membership.members) if is_upgrade else consumer_group_order(membership.members)
    members = members_after(membership, present, updated)
    # Kafka looks anew at what the members want only together with the metadata of their topics.
    kind = (
        type_after_update(membership, change.before, updated)
        if change.refreshes
        else membership.subscription_type
    )
    name = preferred_assignor(membership, update.config.assignors[0], change.before, updated)
    try:
        targets = assign(
            update.group, membership, members, ASSIGNORS[name], kind, update.subscription_order
        )
    except PartitionAssignorError:
        # Kafka tells a client nothing of its own faults.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR) from None
    target_epoch = TargetEpoch(epoch, update.now_ms)
    update.records += target_records(membership, targets, target_epoch, update.reason)
    return epoch, targets[updated.member_id]


def _may_assign(update: ConsumerUpdate) -> bool:
    """Whether the last assignment is long enough ago (KIP-1263)."""
    last_ms = update.membership.assignment_timestamp_ms
    interval_ms = assignment_interval_ms(update.group, update.config)
    return last_ms == 0 or interval_ms == 0 or update.now_ms >= last_ms + interval_ms


def _progress(update: ConsumerUpdate, member: ConsumerMember, goal: Goal) -> ConsumerMember:
    current = reconcile(member.current, goal)
    if current == member.current:
        return member
    update.records.append(CurrentRecord(member.member_id, current, update.reason))
    if not member.uses_classic_protocol:
        _time_revocation(update, member, current.state, current.epoch)
    return member.replace(current=current)


def _time_revocation(
    update: ConsumerUpdate, member: ConsumerMember, state: MemberState, epoch: int
) -> None:
    member_id = member.member_id
    if state is MemberState.UNREVOKED_PARTITIONS:
        due_ms = update.now_ms + max(0, member.metadata.rebalance_timeout_ms)
        update.changes.append(RebalanceTimerSet(member_id, due_ms, epoch))
    else:
        update.cancel(TimerKey(TimerKind.REBALANCE, member_id))
